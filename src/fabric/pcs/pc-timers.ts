/** The clock of one PC. It stands still while the PC is held, and its timers then fire later by as much. */
import type { PcClock } from './pc-options.ts';

interface PcTimer {
  /** Of this clock. */
  readonly dueMs: number;
  readonly run: () => void;
  handle: NodeJS.Timeout | undefined;
}

export class PcTimers implements PcClock {
  readonly #onDue: (run: () => void) => void;
  readonly #timers = new Set<PcTimer>();
  /** Held for so long until now. */
  #heldMs = 0;
  /** Of `performance.now()`; undefined: the clock runs. */
  #heldAtMs: number | undefined;

  /** `onDue` takes what is due, to run it in a turn of PCs. */
  constructor(onDue: (run: () => void) => void) {
    this.#onDue = onDue;
  }

  get isHeld(): boolean {
    return this.#heldAtMs !== undefined;
  }

  now(): number {
    return (this.#heldAtMs ?? performance.now()) - this.#heldMs;
  }

  after(ms: number, run: () => void): { cancel(): void } {
    const timer: PcTimer = { dueMs: this.now() + ms, run, handle: undefined };
    this.#timers.add(timer);
    if (!this.isHeld) this.#arm(timer);
    return {
      cancel: () => {
        clearTimeout(timer.handle);
        this.#timers.delete(timer);
      },
    };
  }

  hold(nowMs: number): void {
    if (this.isHeld) return;
    this.#heldAtMs = nowMs;
    for (const timer of this.#timers) clearTimeout(timer.handle);
  }

  unhold(nowMs: number): void {
    if (this.#heldAtMs === undefined) return;
    this.#heldMs += nowMs - this.#heldAtMs;
    this.#heldAtMs = undefined;
    for (const timer of this.#timers) this.#arm(timer);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer.handle);
    this.#timers.clear();
  }

  #arm(timer: PcTimer): void {
    const fire = () => {
      this.#onDue(() => {
        // Cancelled between the moment when it was due and its turn.
        if (this.#timers.delete(timer)) timer.run();
      });
    };
    timer.handle = setTimeout(fire, Math.max(0, Math.ceil(timer.dueMs - this.now())));
  }
}
