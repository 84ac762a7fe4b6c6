/** Waits for something to become true, with a limit: the only way in which tests wait for what gives no event. */
import { setTimeout as pause } from 'node:timers/promises';

const defaultLimitMs = 60_000;

export interface WaitOptions {
  /** Default 60,000 ms, for a hang: on a machine with ten busy processes per core a second takes ten. */
  readonly limitMs?: number;
  /** Condition in words, for the message of the failure. */
  readonly what: string;
  /**
   * Time between two looks. Default: 10 ms at first, then a tenth of the time waited so far, up to 100 ms: a look may ask a server,
   * or read all of /proc, and what takes seconds would keep a core busy.
   */
  readonly everyMs?: number;
}

/** The first value of `condition` that is neither false, null nor undefined. A condition that throws at the end is quoted. */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions): Promise<NonNullable<Exclude<T, false>>> {
  const began = performance.now();
  const limit = began + (options.limitMs ?? defaultLimitMs);
  for (;;) {
    let problem: unknown;
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) return value as NonNullable<Exclude<T, false>>;
      problem = undefined;
    } catch (error) {
      problem = error;
    }
    if (performance.now() > limit) {
      throw new Error(
        `waited ${options.limitMs ?? defaultLimitMs} ms in vain for ${options.what}`,
        problem === undefined ? {} : { cause: problem },
      );
    }
    await pause(options.everyMs ?? Math.min(Math.max((performance.now() - began) / 10, 10), 100));
  }
}
