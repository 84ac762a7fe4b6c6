/**
 * The single connection to an emulator's console. It is always read, whether or not anybody listens, because an emulator whose
 * console is not read holds its guest; and it is made again whenever it is lost.
 *
 * Theory of operation, with a log file: the file holds every byte ever written, in the order of the connection's stream. After
 * connecting, `size of the file - bytes received since` is the position in the file at which this connection began; it is exact
 * once both stand still. What lies in the file before it and was not passed on yet (history on adoption, output between two
 * connections) is passed on first; what arrives meanwhile is held back.
 */
import { stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import type { ConsoleSource } from '../../emulators/driver.ts';
import { openRegular } from '../../lib/regular-file.ts';
import { Retry } from '../../lib/retry.ts';
import { connectSocket } from '../../process/unix-socket.ts';
import { escapeTelnet, TelnetDecoder, towardsEmulator } from './telnet-codec.ts';

/** Time to the next attempt: short at first, as an emulator that just started is about to answer. */
const retryTimes = { firstMs: 50, longestMs: 1000 };
/**
 * Milliseconds for which file and connection must stand still to be compared, attempts to compare them, and bytes held back
 * meanwhile.
 */
const quietMs = 15;
const quietTries = 12;
const heldLimitBytes = 256 * 1024;
/** Bytes of input that wait for the emulator: from the first figure on clients should wait too; beyond the second it is dropped. */
const congestedBytes = 64 * 1024;
const inputLimitBytes = 1024 * 1024;
/** Answers to telnet negotiation that wait for the emulator, in bytes; beyond it there are none. */
const queuedReplyBytes = 64 * 1024;

interface SourceListener {
  output(bytes: Uint8Array): void;
  /** Reports a connection, possibly a new one. */
  connected(): void;
  /** `congested` may be false again. */
  relieved(): void;
}

export class SourceConnection {
  readonly #source: ConsoleSource;
  readonly #historyBytes: number;
  readonly #listener: SourceListener;
  #socket: Socket | undefined;
  #decoder = new TelnetDecoder(towardsEmulator);
  readonly #retry = new Retry(retryTimes, () => this.#connect());
  #closed = false;
  /** Output held back while the log is compared; undefined when it passes. */
  #held: Uint8Array[] | undefined;
  /** Bytes received on this connection. */
  #received = 0;
  /** Position in the log up to which output was passed on; undefined before the first comparison. */
  #logPosition: number | undefined;

  constructor(source: ConsoleSource, historyBytes: number, listener: SourceListener) {
    this.#source = source;
    this.#historyBytes = historyBytes;
    this.#listener = listener;
    this.#connect();
  }

  /** True while the emulator does not take input as fast as it comes: who can wait should. */
  get congested(): boolean {
    return this.#waiting > congestedBytes;
  }

  /** Bytes of input that the emulator has not taken yet. */
  get #waiting(): number {
    return this.#socket?.writableLength ?? 0;
  }

  /** Input without a connection is lost, as on an unplugged serial line. */
  write(bytes: Uint8Array): void {
    const socket = this.#socket;
    if (socket === undefined || this.#waiting > inputLimitBytes) return;
    socket.write(this.#speaksTelnet ? escapeTelnet(bytes) : bytes);
  }

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    this.#socket?.destroy();
  }

  get #speaksTelnet(): boolean {
    return this.#source.telnet === true;
  }

  #connect(): void {
    const source = this.#source;
    const socket =
      source.type === 'unix' ? connectSocket(source.path) : connect({ port: source.port, host: '127.0.0.1', noDelay: true });
    // Known before it is connected: input that comes early waits in it.
    this.#socket = socket;
    this.#received = 0;
    this.#decoder = new TelnetDecoder(towardsEmulator);
    if (source.type === 'unix' && source.greeting !== undefined) socket.write(source.greeting);
    if (source.type === 'unix' && source.log !== undefined) this.#held = [];
    socket.on('connect', () => {
      this.#retry.succeeded();
      this.#listener.connected();
      if (source.type === 'unix' && source.log !== undefined) void this.#catchUp(socket, source.log);
    });
    socket.on('data', (bytes) => this.#arrived(socket, bytes));
    socket.on('drain', () => this.#listener.relieved());
    // `close` follows and is where the end is dealt with.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#socket = undefined;
      this.#letPass();
      if (this.#closed) return;
      this.#listener.relieved();
      this.#retry.failed();
    });
  }

  #arrived(socket: Socket, bytes: Uint8Array): void {
    this.#received += bytes.length;
    if (this.#logPosition !== undefined && this.#held === undefined) this.#logPosition += bytes.length;
    if (this.#held !== undefined) {
      this.#held.push(bytes);
      return;
    }
    if (!this.#speaksTelnet) {
      this.#listener.output(bytes);
      return;
    }
    const { data, reply } = this.#decoder.push(bytes);
    // An emulator that negotiates without reading the answers gets none.
    if (reply.length > 0 && socket.writableLength < queuedReplyBytes) socket.write(reply);
    if (data.length > 0) this.#listener.output(data);
  }

  async #catchUp(socket: Socket, log: string): Promise<void> {
    const began = await this.#whereItBegan(socket, log);
    if (began !== undefined && !socket.destroyed) {
      const from = Math.max(this.#logPosition ?? 0, began - this.#historyBytes);
      const missed = await readPart(log, from, began);
      this.#logPosition = began + this.#received;
      if (missed.length > 0) this.#listener.output(missed);
    }
    if (this.#socket === socket) this.#letPass();
  }

  /** Position in the log at which this connection began; undefined when there is no log. */
  async #whereItBegan(socket: Socket, log: string): Promise<number | undefined> {
    let before: { size: number; received: number } | undefined;
    for (let tried = 0; tried < quietTries && !socket.destroyed; tried++) {
      const size = await stat(log).then(
        (facts) => facts.size,
        () => undefined,
      );
      if (size === undefined) return undefined;
      const received = this.#received;
      if ((before?.size === size && before.received === received) || received > heldLimitBytes) return Math.max(0, size - received);
      before = { size, received };
      await new Promise((resolve) => setTimeout(resolve, quietMs));
    }
    return before && Math.max(0, before.size - before.received);
  }

  #letPass(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const bytes of held) this.#listener.output(bytes);
  }
}

async function readPart(path: string, from: number, to: number): Promise<Uint8Array> {
  if (to <= from) return new Uint8Array(0);
  const opened = await openRegular(path, { noFollow: true }).catch(() => undefined);
  if (opened === undefined) return new Uint8Array(0);
  const { file } = opened;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.subarray(0, bytesRead);
  } catch {
    return new Uint8Array(0);
  } finally {
    await file.close();
  }
}
