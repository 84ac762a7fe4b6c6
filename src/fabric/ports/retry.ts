/** Tries something again and again, soon at first and then less often, until it is stopped. */
const firstMs = 20;
const growth = 1.5;
const usualMs = 250;
/** After this long without success no peer is expected soon: a thousand idle ports must cost next to nothing. */
const patienceMs = 10_000;
const idleMs = 1000;

export class Retry {
  readonly #attempt: () => void;
  #timer: NodeJS.Timeout | undefined;
  #waitMs = firstMs;
  #waitedMs = 0;

  constructor(attempt: () => void) {
    this.#attempt = attempt;
  }

  /** The attempt failed: make another one later. */
  failed(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => this.#now(), this.#waitMs);
    this.#waitedMs += this.#waitMs;
    this.#waitMs = this.#waitedMs > patienceMs ? idleMs : Math.min(usualMs, this.#waitMs * growth);
  }

  /** Ends the wait, if there is one, and starts over with short waits. */
  nudge(): void {
    this.succeeded();
    if (this.#timer) this.#now();
  }

  succeeded(): void {
    this.#waitMs = firstMs;
    this.#waitedMs = 0;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #now(): void {
    this.stop();
    this.#attempt();
  }
}
