/** Timers of one PC by name, so that they can be listed with their remaining times and set again after a restore. */
import type { PcClock } from './pc-options.ts';

interface PendingTimer {
  readonly at: number;
  readonly handle: { cancel(): void };
}

export class Timers {
  readonly #clock: PcClock;
  readonly #run: (name: string) => void;
  /** Made with the first timer: an idle PC has none. */
  #pending: Map<string, PendingTimer> | undefined;

  constructor(clock: PcClock, run: (name: string) => void) {
    this.#clock = clock;
    this.#run = run;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Replaces the timer of that name. */
  set(name: string, ms: number): void {
    this.clear(name);
    this.#pending ??= new Map();
    const handle = this.#clock.after(ms, () => {
      this.#pending?.delete(name);
      this.#run(name);
    });
    this.#pending.set(name, { at: this.now() + ms, handle });
  }

  clear(name: string): void {
    this.#pending?.get(name)?.handle.cancel();
    this.#pending?.delete(name);
  }

  has(name: string): boolean {
    return this.#pending?.has(name) ?? false;
  }

  /** Milliseconds until each. */
  remaining(): Record<string, number> {
    const now = this.now();
    return Object.fromEntries([...(this.#pending ?? [])].map(([name, { at }]) => [name, Math.max(at - now, 0)]));
  }

  close(): void {
    for (const { handle } of this.#pending?.values() ?? []) handle.cancel();
    this.#pending = undefined;
  }
}
