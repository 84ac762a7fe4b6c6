/** Work on a capture that a dialog waits for: it ends with the dialog, and its failure is shown in it. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export interface Work<T> {
  readonly result: ReadonlySignal<{ readonly value: T } | undefined>;
  readonly done: ReadonlySignal<number>;
  readonly failure: ReadonlySignal<string>;
}

/** `run` is called once; it reports how much is done. */
export function useWork<T>(run: (signal: AbortSignal, onProgress: (done: number) => void) => Promise<T>): Work<T> {
  const result = useSignal<{ readonly value: T } | undefined>(undefined);
  const done = useSignal(0);
  const failure = useSignal('');
  useEffect(() => {
    const abort = new AbortController();
    run(abort.signal, (count) => {
      done.value = count;
    }).then(
      (value) => {
        result.value = { value };
      },
      (error: Error) => {
        if (!abort.signal.aborted) failure.value = error.message;
      },
    );
    return () => abort.abort();
  }, []);
  return { result, done, failure };
}
