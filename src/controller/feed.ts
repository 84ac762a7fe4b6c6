/**
 * What one listener of the notifications is sent: a ping at once, every notice, and a ping after five seconds without one. A listener
 * that does not read is cut off: it connects again and asks for the state.
 */
import { Readable } from 'node:stream';
import { type Call, type Socket, Stream } from '../api/route.ts';
import type { UsageMeter } from './computes/usage.ts';
import type { Notice } from './live/host/project-context.ts';

const silenceMs = 5_000;
const bufferLimitBytes = 16 * 1024 * 1024;
/** RFC 6455 §7.4.1: the server goes away; the server is overloaded. */
const goingAwayCode = 1001;
const overloadCode = 1013;

/** What there is to listen to. */
export interface Source {
  /** Registers a listener; returns what ends it. */
  readonly listen: (listener: (notice: Notice) => void) => () => void;
  /** Number of the last change, where changes are numbered: pings tell it. */
  readonly seq?: () => number | undefined;
}

export class Feeds {
  readonly #usage: UsageMeter;
  readonly #open = new Set<() => void>();
  /** The notice that was sent last, as text: it is written once, however many listen. */
  #last: { notice: Notice; text: string } | undefined;

  constructor(usage: UsageMeter) {
    this.#usage = usage;
  }

  /** One JSON document a line, without end. */
  stream(from: Source, signal: Call['signal']): Stream {
    const source = new Readable({ read: () => undefined });
    const send = (text: string) => {
      source.push(`${text}\n`);
      if (source.readableLength > bufferLimitBytes) source.destroy();
    };
    const leave = this.#enter(from, send, () => source.destroy());
    source.once('close', leave);
    signal.addEventListener('abort', () => source.destroy(), { once: true });
    return new Stream('application/json', source);
  }

  /** One JSON document a text frame. */
  serve(from: Source, socket: Socket): void {
    const send = (text: string) => {
      if (socket.bufferedAmount > bufferLimitBytes) socket.close(overloadCode, 'too slow');
      else socket.send(text);
    };
    socket.onClose(this.#enter(from, send, () => socket.close(goingAwayCode)));
  }

  close(): void {
    for (const end of [...this.#open]) end();
  }

  #enter({ listen, seq }: Source, send: (text: string) => void, end: () => void): () => void {
    const ping = () => send(JSON.stringify({ action: 'ping', event: this.#usage.read(), seq: seq?.() }));
    const timer = setInterval(ping, silenceMs).unref();
    ping();
    const unsubscribe = listen((notice) => {
      timer.refresh();
      send(this.#textOf(notice));
    });
    this.#open.add(end);
    return () => {
      clearInterval(timer);
      unsubscribe();
      this.#open.delete(end);
    };
  }

  #textOf(notice: Notice): string {
    if (this.#last?.notice !== notice) {
      const { action, event, seq } = notice;
      this.#last = { notice, text: JSON.stringify({ action, event, seq }) };
    }
    return this.#last.text;
  }
}
