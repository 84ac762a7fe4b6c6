/** Commands of the page itself. */
import { KeysPage } from '../panels/keys-page.tsx';
import type { Theme } from '../state/theme.ts';
import { texts } from '../texts.ts';
import type { Action } from './action.ts';

const themes: readonly Theme[] = ['system', 'light', 'dark'];

export const pageActions: readonly Action[] = [
  {
    id: 'keys',
    label: texts.actions.keys,
    group: 'page',
    icon: 'help',
    keys: ['?'],
    enabled: () => true,
    run: ({ app }) => app.dialogs.show((close) => <KeysPage close={close} />),
  },
  {
    id: 'theme',
    label: texts.actions.theme,
    group: 'page',
    icon: 'theme',
    enabled: () => true,
    run: ({ app }) => {
      const next = themes[(themes.indexOf(app.theme.peek()) + 1) % themes.length] ?? 'system';
      app.theme.value = next;
      app.toasts.show('info', texts.theme[next]);
    },
  },
];
