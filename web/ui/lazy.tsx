/** Views and dialogs whose code is loaded when they are first shown. */
import { useSignal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { type App, useApp } from '../state/app.ts';
import type { OpenDialog } from '../state/dialogs.ts';
import { texts } from '../texts.ts';

interface LazyProps<P> {
  /** Loads the component. The function must be the same at each rendering. */
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
  if (!loaded.value) return <p class="loading-note">{texts.loading}</p>;
  const { View } = loaded.value;
  return <View {...props} />;
}

/** Opens a dialog as soon as its code is loaded. */
export function showLazily(app: App, load: () => Promise<OpenDialog['draw']>): void {
  void app.toasts.attempt(async () => app.dialogs.show(await load()));
}
