/** Tries something again until it succeeds: soon at first, then less and less often (exponential backoff). The page uses it, too. */

export interface RetryTimes {
  /** Before the second attempt. */
  readonly firstMs: number;
  /** Waits grow up to this. */
  readonly longestMs: number;
  /** Each wait is so many times the one before it. Default 2. */
  readonly growth?: number;
}

export class Retry {
  readonly #times: Required<RetryTimes>;
  readonly #attempt: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waitMs: number;

  /** `attempt` is called when a wait is over; loops that `pause()` need none. */
  constructor(times: RetryTimes, attempt: () => void = () => undefined) {
    this.#times = { growth: 2, ...times };
    this.#attempt = attempt;
    this.#waitMs = times.firstMs;
  }

  /** The attempt failed: makes another one after the next wait, or after `leastMs` when that is longer. No effect while it waits. */
  failed(leastMs = 0): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => this.#now(), Math.max(leastMs, this.#nextMs()));
  }

  /** The next wait as a promise, which is over at once when the signal aborts. Never rejects. */
  pause(signal?: AbortSignal): Promise<void> {
    const waitMs = this.#nextMs();
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      signal?.addEventListener('abort', end);
    });
  }

  /** Ends the wait, if there is one, and starts over with short waits. */
  nudge(): void {
    this.succeeded();
    if (this.#timer) this.#now();
  }

  /** The next failure begins with the first wait. */
  succeeded(): void {
    this.#waitMs = this.#times.firstMs;
  }

  /** No attempt follows; a later `failed()` starts one again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #nextMs(): number {
    const waitMs = this.#waitMs;
    this.#waitMs = Math.min(this.#times.longestMs, waitMs * this.#times.growth);
    return waitMs;
  }

  #now(): void {
    this.stop();
    this.#attempt();
  }
}
