/**
 * The feeds of notifications, of controller and compute: a listener is sent a ping at once, every notice of its source, and a ping after a
 * silence; as text frames of a WebSocket, or over HTTP as one JSON document per line. A listener that does not read is disconnected: it
 * reconnects and reads the state.
 */
import { Readable } from 'node:stream';
import { type Call, type Socket, Stream } from './route.ts';

const bufferLimitBytes = 16 * 1024 * 1024;
/** RFC 6455 §7.4.1: the server goes away; the server is overloaded. */
const goingAwayCode = 1001;
const overloadCode = 1013;

export interface FeedOptions<N> {
  /** A ping follows so long after the last message. */
  readonly silenceMs: number;
  /** The `event` of a ping. */
  readonly ping: () => object | Promise<object>;
  readonly textOf: (notice: N) => string;
}

/** What a listener is sent beside pings. */
export interface FeedSource<N> {
  /** Registers a listener; returns the function that unregisters it. */
  readonly listen: (listener: (notice: N) => void) => () => void;
  /** Number of the last change, where changes are numbered: pings carry it. */
  readonly seq?: () => number | undefined;
}

export class NotificationFeeds<N extends object> {
  readonly #options: FeedOptions<N>;
  readonly #open = new Set<() => void>();
  /** The notice that was sent last, as text: it is written once for all listeners. */
  #last: { notice: N; text: string } | undefined;

  constructor(options: FeedOptions<N>) {
    this.#options = options;
  }

  /** One JSON document per line, without end. */
  stream(source: FeedSource<N>, signal: Call['signal']): Stream {
    const body = new Readable({ read: () => undefined });
    const send = (text: string) => {
      body.push(`${text}\n`);
      if (body.readableLength > bufferLimitBytes) body.destroy();
    };
    body.once(
      'close',
      this.#enter(source, send, () => body.destroy()),
    );
    signal.addEventListener('abort', () => body.destroy(), { once: true });
    return new Stream('application/json', body);
  }

  /** One JSON document per text frame. */
  serve(source: FeedSource<N>, socket: Socket): void {
    const send = (text: string) => {
      if (socket.bufferedAmount > bufferLimitBytes) socket.close(overloadCode, 'too slow');
      else socket.send(text);
    };
    socket.onClose(this.#enter(source, send, () => socket.close(goingAwayCode)));
  }

  /** Ends all feeds. */
  close(): void {
    for (const end of [...this.#open]) end();
  }

  #enter({ listen, seq }: FeedSource<N>, send: (text: string) => void, end: () => void): () => void {
    let hasLeft = false;
    const sendPing = (event: object) => hasLeft || send(JSON.stringify({ action: 'ping', event, seq: seq?.() }));
    const ping = () => {
      const event = this.#options.ping();
      if (event instanceof Promise) void event.then(sendPing);
      else sendPing(event);
    };
    const timer = setInterval(ping, this.#options.silenceMs).unref();
    ping();
    const unsubscribe = listen((notice) => {
      timer.refresh();
      send(this.#textOf(notice));
    });
    this.#open.add(end);
    return () => {
      hasLeft = true;
      clearInterval(timer);
      unsubscribe();
      this.#open.delete(end);
    };
  }

  #textOf(notice: N): string {
    if (this.#last?.notice !== notice) this.#last = { notice, text: this.#options.textOf(notice) };
    return this.#last.text;
  }
}
