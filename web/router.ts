/** Maps the address to a view. The server serves the page at these addresses (`src/http/page.ts`). */
import { type ReadonlySignal, signal } from '@preact/signals';

export type View =
  | { readonly name: 'accounts'; readonly part: string }
  | { readonly name: 'projects' | 'templates' | 'appliances' | 'images' | 'server' }
  | { readonly name: 'project'; readonly projectId: string; readonly consoleOf?: string };

export interface Router {
  readonly view: ReadonlySignal<View>;
  /** Id of the project that was shown last; undefined while none was. */
  readonly lastProject: ReadonlySignal<string | undefined>;
  /** Navigates to another view, like a followed link. */
  go(path: string): void;
}

export const projectPath = (projectId: string) => `/projects/${projectId}`;
/** A console in a window of its own. */
export const consolePath = (projectId: string, nodeId: string) => `${projectPath(projectId)}/consoles/${nodeId}`;

const named = ['templates', 'appliances', 'images', 'server'] as const;

export function viewOf(path: string): View {
  const [, projectId, consoleOf] = /^\/projects\/([\w-]+)(?:\/consoles\/([\w-]+))?$/.exec(path) ?? [];
  if (projectId !== undefined) return { name: 'project', projectId, ...(consoleOf && { consoleOf }) };
  const [isAccounts, part = ''] = /^\/accounts(?:\/(\w+))?$/.exec(path) ?? [];
  if (isAccounts !== undefined) return { name: 'accounts', part };
  return { name: named.find((name) => path === `/${name}`) ?? 'projects' };
}

export function createRouter(): Router {
  const view = signal(viewOf(location.pathname));
  const lastProject = signal<string | undefined>(undefined);
  const show = () => {
    const before = view.peek();
    if (before.name === 'project') lastProject.value = before.projectId;
    view.value = viewOf(location.pathname);
  };
  addEventListener('popstate', show);
  const go = (path: string) => {
    if (path === location.pathname) return;
    history.pushState(null, '', path);
    show();
  };
  // Links inside the page do not reload it.
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest?.('a[href^="/"]');
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.defaultPrevented;
    if (!link || !isPlain || link.hasAttribute('download') || link.getAttribute('href')?.startsWith('/v2/')) return;
    event.preventDefault();
    go(link.getAttribute('href') ?? '/');
  });
  return { view, lastProject, go };
}
