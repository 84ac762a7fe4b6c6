/**
 * Timers of one PC by name, so that they can be listed with their remaining times and set again after a restore. While the PC is held its
 * clock stands still, and its timers then fire later by as much.
 */
import type { PcClock } from './pc-options.ts';

interface PendingTimer {
  /** Due time by the clock of the PC. */
  readonly at: number;
  handle: { cancel(): void } | undefined;
}

export class Timers {
  readonly #clock: PcClock;
  readonly #owner: { onTimer(name: string): void };
  /** Made with the first timer: an idle PC has none. */
  #pending: Map<string, PendingTimer> | undefined;
  /** The PC was held for so long until now. */
  #heldMs = 0;
  /** Undefined: the clock runs. */
  #heldAt: number | undefined;

  constructor(clock: PcClock, owner: { onTimer(name: string): void }) {
    this.#clock = clock;
    this.#owner = owner;
  }

  now(): number {
    return (this.#heldAt ?? this.#clock.now()) - this.#heldMs;
  }

  /** Replaces the timer of that name. */
  set(name: string, ms: number): void {
    this.clear(name);
    this.#pending ??= new Map();
    const timer = { at: this.now() + ms, handle: undefined };
    this.#pending.set(name, timer);
    if (this.#heldAt === undefined) this.#arm(name, timer);
  }

  clear(name: string): void {
    this.#pending?.get(name)?.handle?.cancel();
    this.#pending?.delete(name);
    if (this.#pending?.size === 0) this.#pending = undefined;
  }

  has(name: string): boolean {
    return this.#pending?.has(name) ?? false;
  }

  /** Milliseconds until each. */
  remaining(): { name: string; ms: number }[] {
    const now = this.now();
    return [...(this.#pending ?? [])].map(([name, { at }]) => ({ name, ms: Math.max(at - now, 0) }));
  }

  /** `nowMs` is of the clock that the PC was given, as in `unhold`. */
  hold(nowMs: number): void {
    this.#heldAt ??= nowMs;
    for (const { handle } of this.#pending?.values() ?? []) handle?.cancel();
  }

  unhold(nowMs: number): void {
    if (this.#heldAt === undefined) return;
    this.#heldMs += nowMs - this.#heldAt;
    this.#heldAt = undefined;
    for (const [name, timer] of this.#pending ?? []) this.#arm(name, timer);
  }

  close(): void {
    for (const { handle } of this.#pending?.values() ?? []) handle?.cancel();
    this.#pending = undefined;
  }

  #arm(name: string, timer: PendingTimer): void {
    timer.handle = this.#clock.after(Math.max(timer.at - this.now(), 0), () => {
      // The timer may have been cleared, set again or held after it was due.
      if (this.#heldAt !== undefined || this.#pending?.get(name) !== timer) return;
      this.clear(name);
      this.#owner.onTimer(name);
    });
  }
}
