/**
 * Notifications of the server, over a WebSocket that is made again whenever it is lost. Theory of operation: when a connection stands,
 * what comes is held back while `read` asks for everything; then it is passed on in order. A stream whose changes are numbered is
 * asked for those after the last one that was heard; everything is read again only when the server does not remember them. So nothing
 * that happened while the connection was lost is missing, and what happens meanwhile is not lost either.
 */
import { type Signal, signal } from '@preact/signals';

export type Connection = 'connecting' | 'live' | 'lost';

export interface Notice {
  readonly action: string;
  readonly event: unknown;
  /** Number of the change that it tells of. */
  readonly seq?: number;
}

export interface LiveOptions {
  /** Address for one connection, to be told what happened after this change. */
  readonly address: (since: number | undefined) => Promise<string>;
  /** Whether its address takes that number. */
  readonly resumes?: boolean;
  /** Reads everything anew. A rejection counts as a lost connection. */
  readonly read: () => Promise<void>;
  readonly heard: (notice: Notice) => void;
}

const firstRetryMs = 250;
const lastRetryMs = 5_000;
/** The server sends a ping after five seconds of silence. */
const silenceMs = 15_000;

export class Live {
  readonly connection: Signal<Connection> = signal('connecting');
  readonly #options: LiveOptions;
  #socket: WebSocket | undefined;
  #retryMs = firstRetryMs;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  /** What came while everything is read, or before it is known whether it must be. */
  #held: Notice[] | undefined;
  /** Number of the last change that is known. */
  #seq: number | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#connect();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#socket?.close();
  }

  /** Tries at once instead of when its time has come. */
  retryNow(): void {
    if (this.connection.value !== 'lost') return;
    clearTimeout(this.#retry);
    this.#connect();
  }

  /** Reads everything anew on the connection that stands: something happened that says not what it changed. */
  readAgain(): void {
    if (!this.#socket || this.#held) return;
    this.#held = [];
    void this.#read(this.#socket);
  }

  /** What was read is gone: the next connection reads everything. */
  forget(): void {
    this.#seq = undefined;
  }

  #connect(): void {
    const since = this.#options.resumes ? this.#seq : undefined;
    this.#options.address(since).then(
      (address) => this.#closed || this.#open(new WebSocket(address), since),
      () => this.#retryLater(),
    );
  }

  #open(socket: WebSocket, since: number | undefined): void {
    this.#socket?.close();
    this.#socket = socket;
    this.#held = [];
    socket.onopen = () => {
      this.#watch(socket);
      if (since === undefined) void this.#read(socket);
    };
    socket.onmessage = ({ data }) => {
      this.#watch(socket);
      this.#receive(socket, JSON.parse(String(data)) as Notice);
    };
    socket.onclose = () => this.#lost(socket);
  }

  #receive(socket: WebSocket, notice: Notice): void {
    if (notice.action === 'stream.resumed') this.#pass();
    else if (notice.action === 'stream.reset') {
      this.#seq = undefined;
      void this.#read(socket);
    } else if (this.#held) this.#held.push(notice);
    else this.#hear(notice);
  }

  async #read(socket: WebSocket): Promise<void> {
    try {
      await this.#options.read();
    } catch {
      socket.close();
      return;
    }
    if (this.#socket === socket && !this.#closed) this.#pass();
  }

  /** Everything up to what was held back is known. */
  #pass(): void {
    const [first, ...others] = this.#held ?? [];
    this.#held = undefined;
    // A connection begins with a ping, which knows the last change; a later one may know of one that was not told yet.
    if (first?.action === 'ping') this.#seq ??= first.seq;
    else if (first) this.#hear(first);
    for (const notice of others) this.#hear(notice);
    this.#retryMs = firstRetryMs;
    this.connection.value = 'live';
  }

  #hear(notice: Notice): void {
    if (notice.seq !== undefined && notice.action !== 'ping') this.#seq = Math.max(this.#seq ?? 0, notice.seq);
    this.#options.heard(notice);
  }

  #lost(socket: WebSocket): void {
    if (this.#closed || this.#socket !== socket) return;
    clearTimeout(this.#silence);
    this.#socket = undefined;
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#closed) return;
    this.connection.value = 'lost';
    this.#retry = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs);
  }

  /** A connection over which nothing comes is lost, whatever the browser believes. */
  #watch(socket: WebSocket): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      socket.onclose = null;
      socket.close();
      this.#lost(socket);
    }, silenceMs);
  }
}
