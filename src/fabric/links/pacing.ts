/**
 * Lets senders finish what they are sending. The fabric has priority over emulators (ADR 9), so on a busy host each frame would wake it
 * by itself, and emulators would spend their processors on switching to it and back. After a turn of the event loop in which frames came
 * quickly but one or two at a time, the thread therefore sleeps for a moment; the next turn takes what came meanwhile at once.
 *
 * A pause after which hardly more frames came was in vain: their sender waits for an answer. The next pauses are left out, the more of
 * them the longer this lasts, so that a conversation is not slowed down. Frames that are due are never kept waiting, and while frames come
 * that are to be delayed pauses are shorter and only made if these come very quickly: their delay begins when they are read.
 */

const pauseMs = 0.15;
/** Turns that follow each other more slowly have time for each frame. */
const busyMs = 0.3;
/** Frames a run that make a pause worth it, and those that make it superfluous. */
const worthwhile = 3;
const plenty = 24;
const fewestLeftOut = 8;
const mostLeftOut = 4096;
/** Shorter ones cost more than they bring. */
const shortestMs = 0.03;
/** In place of the first two, so long after a frame that is delayed. */
const timedPauseMs = 0.08;
const timedBusyMs = 0.035;
const timedMs = 5;

export interface PacingClock {
  readonly now: () => number;
  /** The thread does nothing for so many milliseconds. */
  readonly sleep: (ms: number) => void;
}

function threadClock(): PacingClock {
  const never = new Int32Array(new SharedArrayBuffer(4));
  return { now: () => performance.now(), sleep: (ms) => void Atomics.wait(never, 0, 0, ms) };
}

export class Pacing {
  readonly #nextDueMs: () => number;
  readonly #clock: PacingClock;
  readonly #onTurn = () => this.#endTurn();
  #runs = 0;
  #frames = 0;
  #hasTimed = false;
  #timedUntilMs = Number.NEGATIVE_INFINITY;
  #endedMs = Number.NEGATIVE_INFINITY;
  #hasPaused = false;
  /** Pauses still to be left out, and how many were the last time. */
  #leaveOut = 0;
  #leftOut = 0;

  /** `nextDueMs`: when frames must be sent next, ms of `performance.now()`. */
  constructor(nextDueMs: () => number, clock: PacingClock = threadClock()) {
    this.#nextDueMs = nextDueMs;
    this.#clock = clock;
  }

  /** A run of frames came in; `isTimed`: when they came matters. */
  note(frames: number, isTimed: boolean): void {
    if (this.#runs === 0) setImmediate(this.#onTurn);
    this.#runs += 1;
    this.#frames += frames;
    this.#hasTimed ||= isTimed;
  }

  #endTurn(): void {
    const framesPerRun = this.#frames / this.#runs;
    const nowMs = this.#clock.now();
    if (this.#hasTimed) this.#timedUntilMs = nowMs + timedMs;
    const isTimed = nowMs < this.#timedUntilMs;
    const isBusy = nowMs - this.#endedMs < (isTimed ? timedBusyMs : busyMs);
    this.#runs = 0;
    this.#frames = 0;
    this.#hasTimed = false;
    this.#judge(framesPerRun);
    if (isBusy && framesPerRun < plenty) this.#pause(nowMs, isTimed ? timedPauseMs : pauseMs);
    this.#endedMs = this.#hasPaused ? this.#clock.now() : nowMs;
  }

  #judge(framesPerRun: number): void {
    if (!this.#hasPaused) return;
    this.#hasPaused = false;
    this.#leftOut = framesPerRun < worthwhile ? Math.min(mostLeftOut, Math.max(fewestLeftOut, 2 * this.#leftOut)) : 0;
    this.#leaveOut = this.#leftOut;
  }

  #pause(nowMs: number, longestMs: number): void {
    if (this.#leaveOut > 0) {
      this.#leaveOut -= 1;
      return;
    }
    const ms = Math.min(longestMs, this.#nextDueMs() - nowMs);
    if (ms < shortestMs) return;
    this.#hasPaused = true;
    this.#clock.sleep(ms);
  }
}
