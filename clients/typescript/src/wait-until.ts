/** Waits until something holds. */

export interface WaitOptions {
  /** Milliseconds (default 60,000). */
  readonly timeout?: number;
  /** Time between two attempts, milliseconds (default 200). */
  readonly interval?: number;
  /** Condition in words, for the message. */
  readonly what?: string;
  readonly signal?: AbortSignal;
}

export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * The first value of `attempt` that is neither false, null nor undefined. An attempt that throws counts as one that does not hold.
 * @throws TimeoutError with the last error of an attempt as its cause; the reason of the signal
 */
export async function waitUntil<T>(
  attempt: () => Promise<T> | T,
  { timeout = 60_000, interval = 200, what = 'the condition', signal }: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const end = performance.now() + timeout;
  for (;;) {
    signal?.throwIfAborted();
    let problem: unknown;
    try {
      const value = await attempt();
      if (value !== false && value !== null && value !== undefined) return value as Exclude<T, false | null | undefined>;
    } catch (error) {
      problem = error;
    }
    const left = end - performance.now();
    if (left <= 0) {
      const reason = problem instanceof Error ? `: ${problem.message}` : '';
      throw new TimeoutError(`${what} did not hold within ${timeout} ms${reason}`, { cause: problem });
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(interval, left)));
  }
}
