/** The bar at the head of every view. */
import type { ComponentChildren } from 'preact';
import { runAction } from '../actions/action.ts';
import { ActionButton } from '../actions/action-button.tsx';
import { getAction } from '../actions/actions.ts';
import { shownChord } from '../actions/keys.ts';
import { projectPath } from '../router.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Icon } from '../ui/icon.tsx';

function FindButton() {
  const app = useApp();
  return (
    <button type="button" class="button find-button" onClick={() => runAction(getAction('find'), app)}>
      <Icon name="search" />
      <span>{texts.find.title}</span>
      <kbd>{shownChord('Mod+K')}</kbd>
    </button>
  );
}

export function TopBar({ children }: { readonly children?: ComponentChildren }) {
  const { router, server } = useApp();
  const { name } = router.view.value;
  const last = server.projects.find(router.lastProject.value ?? '');
  const link = (path: string, label: string, view: readonly string[]) => (
    <a href={path} aria-current={view.includes(name) ? 'page' : undefined}>
      {label}
    </a>
  );
  return (
    <header class="top-bar">
      <a class="brand" href="/" aria-label={texts.product}>
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
          <rect width="32" height="32" rx="8" />
          <path d="M10 22V14a4 4 0 0 1 4-4h4a4 4 0 0 1 4 4v8" />
          <circle cx="10" cy="22.5" r="3" />
          <circle class="far-end" cx="22" cy="22.5" r="3" />
        </svg>
        <span>{texts.product}</span>
      </a>
      {children ?? (
        <nav class="views" aria-label={texts.views}>
          {link('/', texts.projects, ['projects'])}
          {link('/templates', texts.templates, ['templates', 'appliances', 'images'])}
          {link('/server', texts.server, ['server'])}
          {server.rights.mayAdminister && link('/accounts', texts.accounts, ['accounts'])}
          {last?.status === 'opened' && link(projectPath(last.project_id), texts.backTo(last.name ?? ''), [])}
        </nav>
      )}
      <span class="grow" />
      <FindButton />
      <ActionButton action={getAction('theme')} />
      <ActionButton action={getAction('keys')} />
      <ActionButton action={getAction('account')} />
      <ActionButton action={getAction('sign-out')} />
    </header>
  );
}
