/** Stands in for `node:timers/promises`. */
import * as timers from '../engine/globals.ts';

interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly ref?: boolean;
}

export function setTimeout<T>(delayMs?: number, value?: T, { signal }: WaitOptions = {}): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
  const aborted = () => Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' });
  if (signal?.aborted) return Promise.reject(aborted());
  const timer = timers.setTimeout(() => resolve(value), delayMs);
  signal?.addEventListener('abort', () => {
    timer.clear();
    reject(aborted());
  });
  return promise;
}

export function setImmediate<T>(value?: T): Promise<T | undefined> {
  return new Promise((resolve) => timers.setImmediate(() => resolve(value)));
}

export async function* setInterval<T>(delayMs?: number, value?: T): AsyncGenerator<T | undefined> {
  for (;;) yield await setTimeout(delayMs, value);
}
