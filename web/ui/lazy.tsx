/** Views and dialogs whose code is loaded when they are first shown. */
import { useSignal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { type App, useApp } from '../state/app.ts';
import type { OpenDialog } from '../state/dialogs.ts';
import { texts } from '../texts.ts';
import { Button } from './button.tsx';

interface LazyProps<P> {
  /** Loads the component. The function must be the same at each rendering. */
  readonly load: () => Promise<FunctionComponent<P>>;
  readonly props: P;
}

export function Lazy<P extends object>({ load, props }: LazyProps<P>) {
  const app = useApp();
  const isFailed = useSignal(false);
  const loaded = useSignal<{ readonly View: FunctionComponent<P> } | undefined>(undefined);
  useEffect(() => {
    const show = (View: FunctionComponent<P>) => {
      loaded.value = { View };
    };
    load().then(show, () => {
      isFailed.value = true;
    });
  }, [isFailed, loaded, load]);
  if (!loaded.value && isFailed.value)
    return (
      <p class="loading-note" role="alert">
        {texts.notLoaded} <Button onClick={() => loadPageAgain(app)}>{texts.loadPageAgain}</Button>
      </p>
    );
  if (!loaded.value) return <p class="loading-note">{texts.loading}</p>;
  const { View } = loaded.value;
  return <View {...props} />;
}

/** Opens a dialog as soon as its code is loaded. */
export function showLazily(app: App, load: () => Promise<OpenDialog['draw']>): void {
  load().then(
    (draw) => app.dialogs.show(draw),
    () => app.toasts.show('error', texts.notLoaded),
  );
}

/** Loads the page anew: after an upgrade of the server, the code has other addresses. Without a server, the page stays. */
function loadPageAgain({ api, toasts }: App): Promise<unknown> {
  return toasts.attempt(async () => {
    await api.get('/v2/version');
    location.reload();
  });
}
