/**
 * The round trip of a stream between two computes: marks between the frames, which the other end answers. The shortest of the last ones
 * counts, as any of them may have waited behind frames or for a processor; of few, all may have.
 */
import { headerBytes, putFrameLength } from '../frames.ts';
import { firstMark } from './framed-socket.ts';

const probe = firstMark;
const answer = firstMark + 1;
const samples = 64;
/** Before so many nothing is known. */
const fewest = 8;
/** Between the first probes, milliseconds. */
const firstEveryMs = 100;

export const probeMark = markOf(probe);
const answerMark = markOf(answer);

export class RoundTrips {
  readonly #times: number[] = [];
  #shortestMs: number | undefined;
  #sentAt: number | undefined;

  /** Of the last samples, milliseconds; undefined: none yet. */
  get shortestMs(): number | undefined {
    return this.#shortestMs;
  }

  /** When to send the next probe without waiting for a beat, milliseconds; undefined: it is not urgent. */
  get nextMs(): number | undefined {
    return this.#times.length < fewest ? firstEveryMs : undefined;
  }

  /** A probe is being sent. */
  sent(): void {
    this.#sentAt = performance.now();
  }

  /** What has to be sent for a mark that was received; undefined: nothing. */
  received(mark: number): Buffer | undefined {
    if (mark === probe) return answerMark;
    if (mark === answer && this.#sentAt !== undefined) {
      this.#times.push(performance.now() - this.#sentAt);
      if (this.#times.length > samples) this.#times.shift();
      if (this.#times.length >= fewest) this.#shortestMs = Math.min(...this.#times);
      this.#sentAt = undefined;
    }
    return undefined;
  }

  /** Another connection. */
  forget(): void {
    this.#times.length = 0;
    this.#shortestMs = undefined;
    this.#sentAt = undefined;
  }
}

function markOf(length: number): Buffer {
  const mark = Buffer.alloc(headerBytes);
  putFrameLength(mark, 0, length);
  return mark;
}
