/** Retries an action with exponential backoff until it succeeds. The page uses this file, too. */

export interface RetryTimes {
  /** Wait before the second attempt, ms. */
  readonly firstMs: number;
  /** Longest wait, ms. */
  readonly longestMs: number;
  /** Factor from one wait to the next. Default 2. */
  readonly growth?: number;
}

/** Wait after so many failures in a row, ms. */
export function waitAfter({ firstMs, longestMs, growth = 2 }: RetryTimes, failures: number): number {
  return Math.min(longestMs, firstMs * growth ** (failures - 1));
}

export class Retry {
  readonly #times: RetryTimes;
  readonly #attempt: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  /** `attempt` is called after each wait; loops that call `pause()` need none. */
  constructor(times: RetryTimes, attempt: () => void = () => undefined) {
    this.#times = times;
    this.#attempt = attempt;
  }

  /** Schedules another attempt after the next wait, or after `leastMs` when that is longer. No effect while one is scheduled. */
  failed(leastMs = 0): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => this.#now(), Math.max(leastMs, waitAfter(this.#times, ++this.#failures)));
  }

  /** Returns the next wait as a promise, which resolves at once when the signal aborts. Never rejects. */
  pause(signal?: AbortSignal): Promise<void> {
    const waitMs = waitAfter(this.#times, ++this.#failures);
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

  /** Ends the current wait, if any, and starts over with the first wait. */
  nudge(): void {
    this.succeeded();
    if (this.#timer) this.#now();
  }

  /** Resets the waits: the next failure begins with the first one. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Cancels the scheduled attempt; a later `failed()` schedules one again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #now(): void {
    this.stop();
    this.#attempt();
  }
}
