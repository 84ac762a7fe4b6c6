/** Waits for a condition on signals. */
import { effect } from '@preact/signals';

export function until(condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (!condition()) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}
