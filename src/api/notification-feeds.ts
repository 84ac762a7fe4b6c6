/**
 * Serves the notification feeds of controller and compute: a ping at once, every notice of the source, and a ping after each
 * silence. The format is text frames of a WebSocket, or one JSON document per line over HTTP. Bytes that wait for the listeners of
 * one client are limited together. A feed that exceeds the limit ends with the reason and the number of its last change.
 */
import { PassThrough } from 'node:stream';
import { endedAction, type StreamEnded } from '../schema/notification.ts';
import { type Call, type Socket, Stream } from './route.ts';
import { type BudgetedStream, streamBudgets } from './stream-budgets.ts';

/** Bytes of a feed that its connection queues at a time; the rest waits in the feed, where it can be dropped. */
const connectionBytes = 64 * 1024;
/**
 * Longer notices, such as a drawing of an imported project, count as this size, so that they cannot exhaust the budget of a
 * listener that reads.
 */
const mostCountedBytes = 1024 * 1024;
/** A client that does not read is disconnected this long after the end of its feed. */
const endLimitMs = 5_000;
/** RFC 6455 §7.4.1: 1001 means that the server goes away, 1013 that it is overloaded. */
const goingAwayCode = 1001;
const overloadCode = 1013;

interface FeedOptions<N> {
  /** A ping follows this long after the last message. */
  readonly silenceMs: number;
  /** The `event` of a ping. */
  readonly ping: () => object | Promise<object>;
  readonly textOf: (notice: N) => string;
}

/** Where a feed's notices come from. */
export interface FeedSource<N> {
  /** Registers a listener; returns the function that unregisters it. */
  readonly listen: (listener: (notice: N) => void) => () => void;
  /** Number of the last change, where changes are numbered: pings carry it. */
  readonly seq?: () => number | undefined;
}

export class NotificationFeeds<N extends object> {
  readonly #options: FeedOptions<N>;
  readonly #open = new Set<() => void>();
  /** The last notice with its text, which is serialized once for all listeners. */
  #last: { notice: N; text: string } | undefined;

  constructor(options: FeedOptions<N>) {
    this.#options = options;
  }

  /** Streams a feed over HTTP: one JSON document per line, without end. */
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

  /** Serves a feed on a WebSocket: one JSON document per text frame. */
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
  /** Ends the connection after the queued bytes. */
  endSlow(): void;
}

/** The queue of texts for one listener. */
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
