/** Commands for the signed-in account, and for the session of the browser. */
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { showLazily } from '../ui/lazy.tsx';
import type { Action } from './action.ts';

/** Forgets unsaved work, which must not be shown to another user of this tab. */
function leave(): void {
  sessionStorage.clear();
  location.assign('/');
}

export const sessionActions: readonly Action[] = [
  {
    id: 'account',
    label: texts.actions.account,
    group: 'page',
    icon: 'person',
    offered: ({ app }) => app.server.rights.account.value !== undefined,
    enabled: () => true,
    run: ({ app }) =>
      showLazily(app, async () => {
        const { AccountDialog } = await import('../people/account-dialog.tsx');
        return (close) => <AccountDialog close={close} leave={leave} />;
      }),
  },
  {
    id: 'sign-out',
    label: texts.actions.signOut,
    group: 'page',
    icon: 'exit',
    offered: ({ app }) => app.server.rights.signedIn.value,
    enabled: () => true,
    run: async ({ app }) => {
      await app.api.post('/logout');
      leave();
    },
  },
  {
    id: 'sign-out-everywhere',
    label: texts.actions.signOutEverywhere,
    group: 'page',
    icon: 'exit',
    offered: ({ app }) => app.server.rights.signedIn.value,
    enabled: () => true,
    run: async ({ app }) => {
      if (!(await ask(app, { ...texts.signOutEverywhere, yes: texts.actions.signOutEverywhere }))) return;
      await app.api.post('/logout/everywhere');
      leave();
    },
  },
];
