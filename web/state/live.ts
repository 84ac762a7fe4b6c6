/**
 * Notifications of the server, over a WebSocket that is made again whenever it is lost. Theory of operation: when a connection stands,
 * what comes is held back while `read` asks for everything; then it is passed on in order. So nothing that happened while the
 * connection was lost is missing, and what happens meanwhile is not lost either.
 */
import { type Signal, signal } from '@preact/signals';

export type Connection = 'connecting' | 'live' | 'lost';

export interface Notice {
  readonly action: string;
  readonly event: unknown;
}

export interface LiveOptions {
  /** Address for one connection. */
  readonly address: () => Promise<string>;
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

  #connect(): void {
    this.#options.address().then(
      (address) => this.#closed || this.#open(new WebSocket(address)),
      () => this.#retryLater(),
    );
  }

  #open(socket: WebSocket): void {
    this.#socket?.close();
    this.#socket = socket;
    let held: Notice[] | undefined = [];
    socket.onopen = async () => {
      this.#watch(socket);
      try {
        await this.#options.read();
      } catch {
        socket.close();
        return;
      }
      if (this.#socket !== socket || this.#closed) return;
      for (const notice of held ?? []) this.#options.heard(notice);
      held = undefined;
      this.#retryMs = firstRetryMs;
      this.connection.value = 'live';
    };
    socket.onmessage = ({ data }) => {
      this.#watch(socket);
      const notice = JSON.parse(String(data)) as Notice;
      if (held) held.push(notice);
      else this.#options.heard(notice);
    };
    socket.onclose = () => this.#lost(socket);
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
