/** The console of a PC: its last output, and the connections that watch it and type. */
import type { Socket } from 'node:net';

/** What a new connection sees of the past, and with how many pieces it is kept. */
const historyBytes = 16 * 1024;
const historyPieces = 64;
/** Input that waits for the PC's turns: beyond it, connections are not read. */
const inputLimitBytes = 16 * 1024;
/** A connection that is so far behind is closed: it gets the last output when it connects again. */
const laggardBytes = 1024 * 1024;
/** A piece of input, which the PC takes in one turn. */
export const inputPieceBytes = 512;

export class PcConsole {
  readonly #onInput: () => void;
  readonly #watchers = new Set<Socket>();
  #history: Uint8Array[] = [];
  #historySize = 0;
  #input: Buffer[] = [];
  #inputSize = 0;

  constructor(onInput: () => void) {
    this.#onInput = onInput;
  }

  get hasInput(): boolean {
    return this.#inputSize > 0;
  }

  write(bytes: Uint8Array): void {
    const kept = bytes.length > historyBytes ? bytes.slice(-historyBytes) : bytes;
    this.#history.push(kept);
    this.#historySize += kept.length;
    if (this.#historySize > 2 * historyBytes || this.#history.length > historyPieces) {
      const all = this.history();
      this.#history = [all];
      this.#historySize = all.length;
    }
    for (const watcher of this.#watchers) {
      watcher.write(bytes);
      if (watcher.writableLength > laggardBytes) watcher.destroy();
    }
  }

  history(): Uint8Array {
    return Uint8Array.from(Buffer.concat(this.#history).subarray(-historyBytes));
  }

  /** Of a PC that continues: nothing of it is written to connections. */
  setHistory(bytes: Uint8Array): void {
    this.#history = [bytes];
    this.#historySize = bytes.length;
  }

  /** `typed` was received behind the line that names the PC. */
  watch(watcher: Socket, typed: Buffer): void {
    this.#watchers.add(watcher);
    watcher.on('close', () => this.#watchers.delete(watcher));
    watcher.on('data', (bytes) => this.type(bytes));
    watcher.write(this.history());
    if (typed.length > 0) this.type(typed);
    if (this.#inputSize > inputLimitBytes) watcher.pause();
  }

  type(bytes: Buffer): void {
    this.#input.push(bytes);
    this.#inputSize += bytes.length;
    if (this.#inputSize > inputLimitBytes) for (const watcher of this.#watchers) watcher.pause();
    this.#onInput();
  }

  /** The next piece of what was typed. */
  take(): Uint8Array | undefined {
    const [first] = this.#input;
    if (!first) return undefined;
    const piece = first.subarray(0, inputPieceBytes);
    if (piece.length < first.length) this.#input[0] = first.subarray(piece.length);
    else this.#input.shift();
    this.#inputSize -= piece.length;
    if (this.#inputSize === 0) for (const watcher of this.#watchers) watcher.resume();
    return piece;
  }

  /** What was typed and not taken yet, which stays. */
  waiting(): Uint8Array {
    return Buffer.concat(this.#input);
  }

  /** Closes the connections: `disconnect` was typed. */
  disconnect(): void {
    for (const watcher of this.#watchers) watcher.destroySoon();
  }
}
