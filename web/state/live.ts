/**
 * Notifications of the server, over a WebSocket that reconnects when it is lost. Theory of operation: on connection,
 * notifications are held back while `read` loads everything; then they are delivered in order. A stream with numbered changes is
 * resumed after the last received number; everything is read again only when the server has no record of the missed changes. So
 * no change is lost while the connection is down or while the page reads.
 */
import { type Signal, signal } from '@preact/signals';
import { Retry } from '../../src/lib/retry.ts';

export type Connection = 'connecting' | 'live' | 'lost';

export interface Notice {
  readonly action: string;
  readonly event: unknown;
  /** Number of its change. */
  readonly seq?: number;
}

export interface LiveOptions {
  /** URL for one connection, resumed after this change. */
  readonly address: (since: number | undefined) => Promise<string>;
  /** Whether the URL takes that number. */
  readonly resumes?: boolean;
  /** Reads everything again. A rejection counts as a lost connection. */
  readonly read: () => Promise<void>;
  readonly onNotice: (notice: Notice) => void;
}

/** The server sends a ping after five seconds of silence. */
const silenceMs = 15_000;

export class Live {
  readonly connection: Signal<Connection> = signal('connecting');
  readonly #options: LiveOptions;
  #socket: WebSocket | undefined;
  readonly #retry = new Retry({ firstMs: 250, longestMs: 5_000 }, () => this.#connect());
  #silence: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  /** Notifications held back during a read, or until it is known whether one is needed. */
  #held: Notice[] | undefined;
  /** Number of the last known change. */
  #seq: number | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#connect();
  }

  close(): void {
    this.#closed = true;
    this.#retry.stop();
    clearTimeout(this.#silence);
    this.#socket?.close();
  }

  /** Retries immediately. */
  retryNow(): void {
    if (this.connection.value !== 'lost') return;
    this.#retry.stop();
    this.#connect();
  }

  /** Sends a message on the current connection. Without one it is dropped. */
  send(message: unknown): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /**
   * Reads everything again on the current connection, after an event that does not say what it changed. `read`: reads the part that can
   * have changed.
   */
  readAgain(read = this.#options.read): void {
    if (!this.#socket || this.#held) return;
    this.#held = [];
    void this.#read(this.#socket, read);
  }

  /** Discards the data: the next connection reads everything. */
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

  async #read(socket: WebSocket, read = this.#options.read): Promise<void> {
    try {
      await read();
    } catch {
      socket.close();
      return;
    }
    if (this.#socket === socket && !this.#closed) this.#pass();
  }

  /** The data is complete up to the first held-back notification. */
  #pass(): void {
    const [first, ...others] = this.#held ?? [];
    this.#held = undefined;
    // A connection starts with a ping that holds the number of the last change; a later ping may precede its notification.
    if (first?.action === 'ping') this.#seq ??= first.seq;
    else if (first) this.#hear(first);
    for (const notice of others) this.#hear(notice);
    this.#retry.succeeded();
    this.connection.value = 'live';
  }

  #hear(notice: Notice): void {
    if (notice.seq !== undefined && notice.action !== 'ping') this.#seq = Math.max(this.#seq ?? 0, notice.seq);
    this.#options.onNotice(notice);
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
    this.#retry.failed();
  }

  /** A silent connection counts as lost, even if the browser reports it as open. */
  #watch(socket: WebSocket): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      socket.onclose = null;
      socket.close();
      this.#lost(socket);
    }, silenceMs);
  }
}
