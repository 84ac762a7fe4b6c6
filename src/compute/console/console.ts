/**
 * The telnet console of a running node: one connection to the emulator, any number of clients on the node's TCP port and on
 * WebSockets. All input is merged in order of arrival, all output goes to everybody; no client can hold up another or the guest.
 */
import type { Socket } from 'node:net';
import { clientKey } from '../../api/client-key.ts';
import { type BudgetedStream, streamBudgets } from '../../api/stream-budgets.ts';
import type { ConsoleSource, TerminalSize } from '../../emulators/driver.ts';
import type { Admission } from '../host/console-admission.ts';
import { ConsoleClient, type Sink } from './client.ts';
import { ConsolePort } from './console-port.ts';
import { refusalOf } from './refusals.ts';
import { Scrollback } from './scrollback.ts';
import { SourceConnection } from './source.ts';
import { refusalOfWebRequest, TelnetInput } from './web-requests.ts';

export type { Sink } from './client.ts';

export interface ConsoleOptions {
  readonly source: ConsoleSource;
  /** Address to listen on. */
  readonly host: string;
  /** TCP port to listen on; 0 picks a free one. */
  readonly port: number;
  /** A line for people, shown to each new client and in answer to "are you there". */
  readonly banner?: string;
  /** Decides which TCP clients may connect; undefined: all. */
  readonly admits?: Admission | undefined;
}

export interface NodeConsole {
  readonly port: number;
  /** Cuts all clients and both sides' connections, and opens them anew. The scrollback stays. */
  reset(): Promise<void>;
  /** Resolves when the port is free again. */
  close(): Promise<void>;
  /** Adds a client that speaks as a TCP client would: it gets telnet negotiation and doubled 0xff, and may send both. */
  attach(sink: Sink): { write(bytes: Uint8Array): void; detach(): void };
}

/** Bytes of past output that a new client receives. */
const scrollbackBytes = 64 * 1024;
/** Poll interval of a WebSocket that fell behind: it does not report when there is room again. */
const lookAgainMs = 50;

/** @throws `console_unavailable` when the port cannot be listened on. */
export async function openConsole(options: ConsoleOptions): Promise<NodeConsole> {
  const session = new Console(options);
  await session.listen(options.port);
  return session;
}

class Console implements NodeConsole {
  readonly #options: ConsoleOptions;
  #scrollback = new Scrollback(scrollbackBytes);
  readonly #clients = new Set<ConsoleClient>();
  #source: SourceConnection | undefined;
  #listener: ConsolePort | undefined;
  #lookAgain: NodeJS.Timeout | undefined;
  #port = 0;
  /** Undefined where the terminal has no size. */
  readonly #resizer: TerminalResizer | undefined;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    const { source } = options;
    if (source.type === 'unix' && source.resize) this.#resizer = new TerminalResizer((size) => source.resize?.(size));
  }

  get port(): number {
    return this.#port;
  }

  async listen(port: number): Promise<void> {
    const { host, admits } = this.#options;
    const options = { host, port, admits, refusal: refusalOf('telnet') };
    this.#listener = await ConsolePort.open(options, (socket) => this.#accept(socket));
    this.#port = this.#listener.number;
    if (!this.#isOnDemand) this.#connect();
  }

  async reset(): Promise<void> {
    await this.close();
    await this.listen(this.#port);
  }

  async close(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    clearInterval(this.#lookAgain);
    this.#lookAgain = undefined;
    this.#source?.close();
    this.#source = undefined;
    for (const client of this.#clients) client.close();
    this.#clients.clear();
    await listener?.close();
  }

  attach(sink: Sink): { write(bytes: Uint8Array): void; detach(): void } {
    const client = this.#add(sink);
    return {
      write: (bytes) => this.#input(client, bytes),
      detach: () => this.#remove(client),
    };
  }

  #add(sink: Sink): ConsoleClient {
    if (this.#isOnDemand && this.#source === undefined && this.#listener !== undefined) {
      this.#scrollback = new Scrollback(scrollbackBytes);
      this.#connect();
    }
    const options = { banner: this.#options.banner, asksSize: this.#resizer !== undefined };
    const client = new ConsoleClient(sink, this.#scrollback, options);
    this.#clients.add(client);
    this.#watchLaggards(client);
    return client;
  }

  #remove(client: ConsoleClient): void {
    this.#clients.delete(client);
    this.#resizer?.fit(this.#clients);
    if (!this.#isOnDemand || this.#clients.size > 0) return;
    this.#source?.close();
    this.#source = undefined;
  }

  /** The emulator keeps its last output itself: it is connected only while there is a client. */
  get #isOnDemand(): boolean {
    const { source } = this.#options;
    return source.type === 'unix' && source.greeting !== undefined;
  }

  #connect(): void {
    this.#source = new SourceConnection(this.#options.source, scrollbackBytes, {
      output: (bytes) => this.#spread(bytes),
      connected: () => this.#resizer?.repeat(),
      relieved: () => {
        for (const socket of this.#listener?.sockets ?? []) socket.resume();
      },
    });
  }

  #accept(socket: Socket): void {
    const address = clientKey(socket.remoteAddress);
    const waiting: BudgetedStream = {
      get waitingBytes() {
        return socket.writableLength;
      },
      endSlow: () => socket.destroy(),
    };
    const client = this.#add({
      send: (bytes) => {
        if (socket.writable && !socket.write(bytes)) streamBudgets.grown(address, waiting);
      },
      bufferedAmount: () => socket.writableLength,
      close: () => socket.destroySoon(),
    });
    const input = new TelnetInput();
    socket.on('data', (bytes) => {
      const passed = input.push(bytes);
      if (passed === undefined) {
        socket.removeAllListeners('data').resume().end(refusalOfWebRequest);
        return;
      }
      this.#input(client, passed);
      if (this.#source?.congested) socket.pause();
    });
    socket.on('drain', () => client.pump());
    socket.on('close', () => {
      streamBudgets.left(address, waiting);
      this.#remove(client);
    });
  }

  #input(client: ConsoleClient, bytes: Uint8Array): void {
    const before = client.size;
    const data = client.receive(bytes);
    if (client.size !== before) this.#resizer?.fit(this.#clients);
    if (data.length > 0) this.#source?.write(data);
  }

  #spread(bytes: Uint8Array): void {
    // A large burst is sent in pieces that the scrollback holds, so that a client that keeps up loses nothing of it.
    for (let at = 0; at < bytes.length; at += scrollbackBytes / 2) {
      this.#scrollback.append(bytes.subarray(at, at + scrollbackBytes / 2));
      for (const client of this.#clients) {
        client.pump();
        this.#watchLaggards(client);
      }
    }
  }

  #watchLaggards(client: ConsoleClient): void {
    if (!client.behind || this.#lookAgain !== undefined) return;
    this.#lookAgain = setInterval(() => {
      for (const one of this.#clients) one.pump();
      if ([...this.#clients].some((one) => one.behind)) return;
      clearInterval(this.#lookAgain);
      this.#lookAgain = undefined;
    }, lookAgainMs);
  }
}

/** Limit of columns and rows. */
const mostCells = 1000;

/**
 * The size of a terminal that several clients share: the smallest that fits into the windows of all of them, as tmux does. Clients
 * that say no size do not count.
 */
class TerminalResizer {
  readonly #resize: (size: TerminalSize) => Promise<void> | undefined;
  #wanted: TerminalSize | undefined;
  #isBusy = false;

  /** `resize` is called once at a time. Its errors are ignored: the terminal has ended, and gets its size when it starts again. */
  constructor(resize: (size: TerminalSize) => Promise<void> | undefined) {
    this.#resize = resize;
  }

  fit(clients: Iterable<{ readonly size: TerminalSize | undefined }>): void {
    const sizes = [...clients].flatMap(({ size }) => (size ? [size] : []));
    if (sizes.length === 0) return;
    const columns = Math.min(mostCells, ...sizes.map((size) => size.columns));
    const rows = Math.min(mostCells, ...sizes.map((size) => size.rows));
    if (columns === this.#wanted?.columns && rows === this.#wanted.rows) return;
    this.#wanted = { columns, rows };
    void this.#apply();
  }

  /** Resizes a new terminal to the size of the one before. */
  repeat(): void {
    if (this.#wanted) void this.#apply();
  }

  /** A window that is being drawn larger changes many times: only the last size counts. */
  async #apply(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    let applied: TerminalSize | undefined;
    while (this.#wanted && this.#wanted !== applied) {
      applied = this.#wanted;
      await this.#resize(applied)?.catch(() => undefined);
    }
    this.#isBusy = false;
  }
}
