/** Commands of the page itself. */

import type { Theme } from '../state/theme.ts';
import { texts } from '../texts.ts';
import type { Action } from './action.ts';
import { CommandMenu } from './find/command-menu.tsx';
import { KeysPage } from './keys-page.tsx';
import { sessionActions } from './session.tsx';

const themes: readonly Theme[] = ['system', 'light', 'dark'];

/** `all`: every command, including these, for the list of keys. */
export const pageActions = (all: () => readonly Action[]): readonly Action[] => [
  {
    id: 'find',
    label: texts.actions.find,
    group: 'page',
    icon: 'search',
    keys: ['Mod+K'],
    // Consoles are left out: shells use this key, too.
    keysWork: 'inFields',
    enabled: ({ app }) => !app.dialogs.isAny,
    run: ({ app }) => app.dialogs.show((close) => <CommandMenu actions={all().filter(({ id }) => id !== 'find')} close={close} />),
  },
  {
    id: 'keys',
    label: texts.actions.keys,
    group: 'page',
    icon: 'help',
    keys: ['?'],
    enabled: () => true,
    run: ({ app }) => app.dialogs.show((close) => <KeysPage actions={all()} close={close} />),
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
  {
    id: 'symbols',
    label: texts.actions.symbols,
    group: 'page',
    icon: 'swap',
    enabled: () => true,
    run: ({ app }) => {
      app.symbolSet.value = app.symbolSet.peek() === 'flat' ? 'classic' : 'flat';
    },
  },
  ...sessionActions,
];
