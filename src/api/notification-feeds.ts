/**
 * The feeds of notifications, of controller and compute: a listener is sent a ping at once, every notice of its source, and a ping after a
 * silence; as text frames of a WebSocket, or over HTTP as one JSON document per line. What waits for the listeners of a client that do not
 * read is limited for all of them together; one that ends so is sent the reason, and the number of its last change.
 */
import { PassThrough } from 'node:stream';
import { endedAction, type StreamEnded } from '../schema/notification.ts';
import { type Call, type Socket, Stream } from './route.ts';
import { type BudgetedStream, streamBudgets } from './stream-budgets.ts';

/** So much of a feed is given to its connection at a time; the rest waits here, where it can be dropped. */
const connectionBytes = 64 * 1024;
/** Longer notices, as of a drawing of an imported project, count as this: else a listener that reads could not be sent them. */
const mostCountedBytes = 1024 * 1024;
/** A client that does not read is cut off so long after its feed has ended. */
const endLimitMs = 5_000;
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
  stream(source: FeedSource<N>, { signal, client }: Pick<Call, 'signal' | 'client'>): Stream {
    const body = new PassThrough({ highWaterMark: connectionBytes });
    const destroy = () => body.destroy();
    const feed = new Feed(client, {
      write: (text, written) => void body.write(`${text}\n`, written),
      endSlow: () => {
        body.end();
        setTimeout(destroy, endLimitMs).unref();
      },
    });
    body.once('close', this.#enter(source, feed, destroy));
    body.on('error', () => undefined);
    signal.addEventListener('abort', destroy, { once: true });
    return new Stream('application/json', body);
  }

  /** One JSON document per text frame. */
  serve(source: FeedSource<N>, socket: Socket, client: Call['client']): void {
    const feed = new Feed(client, {
      write: (text, written) => socket.send(text, written),
      endSlow: () => socket.close(overloadCode, 'too slow'),
    });
    socket.onClose(this.#enter(source, feed, () => socket.close(goingAwayCode)));
  }

  /** Ends all feeds. */
  close(): void {
    for (const end of [...this.#open]) end();
  }

  #enter({ listen, seq }: FeedSource<N>, feed: Feed, end: () => void): () => void {
    let hasLeft = false;
    const sendPing = (event: object) => hasLeft || feed.send(JSON.stringify({ action: 'ping', event, seq: seq?.() }));
    const ping = () => {
      const event = this.#options.ping();
      if (event instanceof Promise) void event.then(sendPing);
      else sendPing(event);
    };
    const timer = setInterval(ping, this.#options.silenceMs).unref();
    ping();
    const unsubscribe = listen((notice) => {
      timer.refresh();
      feed.send(this.#textOf(notice), (notice as { seq?: number }).seq);
    });
    this.#open.add(end);
    return () => {
      hasLeft = true;
      clearInterval(timer);
      unsubscribe();
      feed.leave();
      this.#open.delete(end);
    };
  }

  #textOf(notice: N): string {
    if (this.#last?.notice !== notice) this.#last = { notice, text: this.#options.textOf(notice) };
    return this.#last.text;
  }
}

interface FeedConnection {
  /** `written` is called when the text has left. */
  write(text: string, written: () => void): void;
  /** Ends after what was written. */
  endSlow(): void;
}

/** Texts on their way to one listener. */
class Feed implements BudgetedStream {
  readonly #client: string;
  readonly #connection: FeedConnection;
  #waiting: { text: string; bytes: number; seq: number | undefined }[] = [];
  #waitingBytes = 0;
  #writtenBytes = 0;
  /** Number of the last change that was written. */
  #seq: number | undefined;
  #hasEnded = false;

  constructor(client: string | undefined, connection: FeedConnection) {
    this.#client = client ?? '';
    this.#connection = connection;
  }

  get waitingBytes(): number {
    return this.#waitingBytes + this.#writtenBytes;
  }

  send(text: string, seq?: number): void {
    if (this.#hasEnded) return;
    const bytes = Math.min(Buffer.byteLength(text), mostCountedBytes);
    this.#waiting.push({ text, bytes, seq });
    this.#waitingBytes += bytes;
    this.#write();
    if (this.waitingBytes > 0) streamBudgets.grown(this.#client, this);
  }

  endSlow(): void {
    this.leave();
    const event: StreamEnded = { reason: 'too_slow', seq: this.#seq ?? null };
    this.#connection.write(JSON.stringify({ action: endedAction, event }), () => undefined);
    this.#connection.endSlow();
  }

  leave(): void {
    this.#hasEnded = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    streamBudgets.left(this.#client, this);
  }

  #write(): void {
    let taken = 0;
    while (this.#writtenBytes < connectionBytes) {
      const next = this.#waiting[taken];
      if (!next) break;
      taken += 1;
      this.#waitingBytes -= next.bytes;
      this.#writtenBytes += next.bytes;
      this.#seq = next.seq ?? this.#seq;
      this.#connection.write(next.text, () => {
        this.#writtenBytes -= next.bytes;
        this.#write();
      });
    }
    if (taken > 0) this.#waiting.splice(0, taken);
  }
}
