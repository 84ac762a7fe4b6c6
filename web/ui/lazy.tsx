/** A view whose code is loaded when it is first shown. */
import { useSignal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';

interface LazyProps<P> {
  /** The same function at each rendering. */
  readonly load: () => Promise<FunctionComponent<P>>;
  readonly props: P;
}

export function Lazy<P extends object>({ load, props }: LazyProps<P>) {
  const { toasts } = useApp();
  const loaded = useSignal<{ readonly View: FunctionComponent<P> } | undefined>(undefined);
  useEffect(() => {
    void toasts.attempt(async () => {
      loaded.value = { View: await load() };
    });
  }, [toasts, loaded, load]);
  if (!loaded.value) return <p class="console-note">{texts.loading}</p>;
  const { View } = loaded.value;
  return <View {...props} />;
}
