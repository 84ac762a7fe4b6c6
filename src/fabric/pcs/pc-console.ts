/** The console of a PC: its last output, and the connections that watch it and type. */
import type { Socket } from 'node:net';

/** Output that a new connection is shown of the past. */
const historyBytes = 16 * 1024;
/** Input that waits for the PC's turns: beyond it, connections are not read. */
const inputLimitBytes = 16 * 1024;
/** A connection that is so far behind is closed: it gets the last output when it connects again. */
const laggardBytes = 1024 * 1024;
/** A piece of input, which the PC takes in one turn. */
const inputPieceBytes = 512;
const nothing = Buffer.alloc(0);

export class PcConsole {
  readonly #pc: { wake(): void };
  #watchers: Set<Socket> | undefined;
  /** Grows with the output, up to twice the history. */
  #output: Buffer = nothing;
  #outputSize = 0;
  #input: Buffer[] = [];
  #inputSize = 0;

  constructor(pc: { wake(): void }) {
    this.#pc = pc;
  }

  get hasInput(): boolean {
    return this.#inputSize > 0;
  }

  write(bytes: Uint8Array): void {
    const kept = bytes.subarray(-historyBytes);
    if (this.#outputSize + kept.length > this.#output.length) {
      const past = this.history();
      this.#output = Buffer.alloc(2 ** Math.ceil(Math.log2(past.length + kept.length)));
      this.#output.set(past);
      this.#outputSize = past.length;
    }
    this.#output.set(kept, this.#outputSize);
    this.#outputSize += kept.length;
    for (const watcher of this.#watchers ?? []) {
      watcher.write(bytes);
      if (watcher.writableLength > laggardBytes) watcher.destroy();
    }
  }

  /** A view of the last output, until more is written. */
  history(): Buffer {
    return this.#output.subarray(Math.max(this.#outputSize - historyBytes, 0), this.#outputSize);
  }

  /** Sets the output of a PC that continues. Nothing of it is written to connections. */
  setHistory(bytes: Buffer): void {
    this.#output = bytes;
    this.#outputSize = bytes.length;
  }

  /** `typed` was received behind the line that names the PC. */
  watch(watcher: Socket, typed: Buffer): void {
    this.#watchers ??= new Set();
    this.#watchers.add(watcher);
    watcher.on('close', () => this.#watchers?.delete(watcher));
    watcher.on('data', (bytes) => this.type(bytes));
    watcher.write(Buffer.from(this.history()));
    if (typed.length > 0) this.type(typed);
    if (this.#inputSize > inputLimitBytes) watcher.pause();
  }

  type(bytes: Buffer): void {
    this.#input.push(bytes);
    this.#inputSize += bytes.length;
    if (this.#inputSize > inputLimitBytes) for (const watcher of this.#watchers ?? []) watcher.pause();
    this.#pc.wake();
  }

  /** The next piece of what was typed. */
  take(): Uint8Array | undefined {
    const [first] = this.#input;
    if (!first) return undefined;
    const piece = first.subarray(0, inputPieceBytes);
    if (piece.length < first.length) this.#input[0] = first.subarray(piece.length);
    else this.#input.shift();
    this.#inputSize -= piece.length;
    if (this.#inputSize === 0) for (const watcher of this.#watchers ?? []) watcher.resume();
    return piece;
  }

  /** Input that the PC has not taken yet; it stays. */
  waiting(): Uint8Array {
    return Buffer.concat(this.#input);
  }

  /** Closes the connections: `disconnect` was typed. */
  disconnect(): void {
    for (const watcher of this.#watchers ?? []) watcher.destroySoon();
  }
}
