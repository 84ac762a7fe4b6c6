/**
 * The round trip of a stream between two computes: marks between the frames, which the other end answers. The shortest of the last
 * `samples` counts: each of the others may have waited behind frames or for a processor. Of a few answers all may have waited.
 *
 * Marks are numbered: an answer that comes when later probes are on their way belongs to its own probe.
 */
import { headerBytes, putFrameLength } from '../frames.ts';
import { firstMark } from './framed-socket.ts';

/** Probes that can be on their way. One is sent a second, and a connection that is silent for that many seconds is given up. */
const numbers = 8;
const firstAnswer = firstMark + numbers;
const samples = 64;
/** Answers before which no round trip is reported. */
const fewest = 8;
/** Time between the first answers and the next probe, milliseconds. */
const firstEveryMs = 100;

export class RoundTrips {
  readonly #times: number[] = [];
  #shortestMs: number | undefined;
  /** Times at which probes were sent, by number. */
  readonly #sentAt = new Map<number, number>();
  #next = 0;

  /** Shortest round trip of the last samples, milliseconds; undefined: none yet. */
  get shortestMs(): number | undefined {
    return this.#shortestMs;
  }

  /** Time after an answer at which to send the next probe, milliseconds; undefined: it is not urgent. */
  get nextMs(): number | undefined {
    return this.#times.length < fewest ? firstEveryMs : undefined;
  }

  /** A probe, which is sent now. */
  probe(): Buffer {
    const number = this.#next;
    this.#next = (number + 1) % numbers;
    this.#sentAt.set(number, performance.now());
    return markOf(firstMark + number);
  }

  /** Takes a mark that was received. Returns the answer to be sent; undefined: the mark is an answer itself. */
  received(mark: number): Buffer | undefined {
    if (mark < firstAnswer) return markOf(mark + numbers);
    const number = mark - firstAnswer;
    const sentAt = this.#sentAt.get(number);
    if (sentAt === undefined) return undefined;
    this.#sentAt.delete(number);
    this.#times.push(performance.now() - sentAt);
    if (this.#times.length > samples) this.#times.shift();
    if (this.#times.length >= fewest) this.#shortestMs = Math.min(...this.#times);
    return undefined;
  }

  /** Another connection. */
  forget(): void {
    this.#times.length = 0;
    this.#shortestMs = undefined;
    this.#sentAt.clear();
  }
}

function markOf(length: number): Buffer {
  const mark = Buffer.alloc(headerBytes);
  putFrameLength(mark, 0, length);
  return mark;
}
