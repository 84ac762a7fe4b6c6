/**
 * Lets senders finish what they are sending. The fabric has priority over emulators (ADR 9), so each frame would wake it by itself, and
 * emulators would spend their processors on switching to it and back. After a turn of the event loop in which frames came quickly but
 * not many at a time, the thread therefore sleeps for a moment; the next turn takes what came meanwhile at once. Network cards do the
 * same when they moderate interrupts.
 *
 * A pause is worth it by the frames that come together with others, for each of these saves a turn. After some pauses that
 * brought few of them, as between a question and its answer, the next ones are left out, the more of them the longer this lasts, so that a
 * conversation is not slowed down. A single one in vain changes nothing: a sender on a busy host waits for a processor now and then. Frames that
 * are due are never kept waiting, and while frames come that are to be delayed pauses are shorter and only made if these come very
 * quickly: their delay begins when they are read.
 */

/** A pause that is worth it lasts as long as so many frames take that come together, within these bounds. */
const wantedFrames = 48;
const longestMs = 0.6;
const triedMs = 0.15;
/** Turns that follow each other more slowly have time for each frame. */
const busyMs = 0.3;
/** Frames a run that make a pause superfluous. QEMU can have some 75 large ones on their way until it has to wait. */
const plenty = 64;
/** Frames that came together with others, for each ms of a pause, that make it worth it. */
const worthwhilePerMs = 13;
/** Part of a pause in the average when it brought less. */
const newest = 0.25;
const fewestLeftOut = 8;
const mostLeftOut = 4096;
/** Shorter ones cost more than they bring. */
const shortestMs = 0.03;
/** Limits in place of the longest pause and of `busyMs` while frames are delayed, and how long after a delayed frame they hold. */
const timedPauseMs = 0.08;
const timedBusyMs = 0.035;
const timedMs = 5;

interface PacingClock {
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
  /** Length of the sleep before this turn. */
  #pausedMs = 0;
  /** Benefit of a pause, frames per ms: of the last one, or the average where that is more. */
  #savedPerMs = 0;
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
    const saved = this.#frames - this.#runs;
    const nowMs = this.#clock.now();
    if (this.#hasTimed) this.#timedUntilMs = nowMs + timedMs;
    const isTimed = nowMs < this.#timedUntilMs;
    const isBusy = nowMs - this.#endedMs < (isTimed ? timedBusyMs : busyMs);
    this.#runs = 0;
    this.#frames = 0;
    this.#hasTimed = false;
    if (this.#pausedMs > 0) this.#judge(saved / this.#pausedMs);
    this.#pausedMs = isBusy && framesPerRun < plenty ? this.#pause(nowMs, isTimed ? timedPauseMs : this.#wantedMs) : 0;
    this.#endedMs = this.#pausedMs > 0 ? this.#clock.now() : nowMs;
  }

  #judge(savedPerMs: number): void {
    this.#savedPerMs = Math.max(savedPerMs, this.#savedPerMs + (savedPerMs - this.#savedPerMs) * newest);
    const isWorthwhile = this.#savedPerMs >= worthwhilePerMs;
    this.#leftOut = isWorthwhile ? 0 : Math.min(mostLeftOut, Math.max(fewestLeftOut, 2 * this.#leftOut));
    this.#leaveOut = this.#leftOut;
  }

  get #wantedMs(): number {
    if (this.#savedPerMs < worthwhilePerMs) return triedMs;
    return Math.max(triedMs, Math.min(longestMs, wantedFrames / this.#savedPerMs));
  }

  /** Sleeps if a pause is worth it. Returns for how long. */
  #pause(nowMs: number, atMostMs: number): number {
    if (this.#leaveOut > 0) {
      this.#leaveOut -= 1;
      return 0;
    }
    const ms = Math.min(atMostMs, this.#nextDueMs() - nowMs);
    if (ms < shortestMs) return 0;
    this.#clock.sleep(ms);
    return ms;
  }
}
