/** The state of the page in one object, provided to all views. */
import { effect, type Signal, signal, untracked } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Api, api, sender } from '../api.ts';
import { Viewport } from '../geometry/viewport.ts';
import { createRouter, type Router } from '../router.ts';
import { Clipboard } from './clipboard.ts';
import { ConsoleDock } from './console-dock.ts';
import { Dialogs } from './dialogs.ts';
import { createLetterKeys } from './letter-keys.ts';
import { createMinimap } from './minimap.ts';
import { createOwnName } from './own-name.ts';
import { ProjectState } from './project.ts';
import { ServerState } from './server.ts';
import type { Sketch } from './sketch.ts';
import { createSymbolSet, type SymbolSet } from './symbol-set.ts';
import { Terminals } from './terminals.ts';
import { createTheme, type Theme } from './theme.ts';
import { Toasts } from './toasts.ts';
import { Tools } from './tools.ts';

export class App {
  readonly api: Api = api;
  readonly router: Router = createRouter();
  readonly server = new ServerState(api);
  readonly theme: Signal<Theme> = createTheme();
  readonly symbolSet: Signal<SymbolSet> = createSymbolSet();
  readonly minimap: Signal<boolean> = createMinimap();
  /** Keys that type a character run commands. */
  readonly letterKeys: Signal<boolean> = createLetterKeys();
  /** Shown to others who have the same project open. Empty: the server chooses one. */
  readonly ownName: Signal<string> = createOwnName();
  readonly toasts = new Toasts();
  readonly dialogs = new Dialogs();
  readonly tools = new Tools();
  readonly viewport = new Viewport();
  readonly consoles = new ConsoleDock();
  readonly terminals = new Terminals();
  readonly clipboard = new Clipboard();
  readonly sketch = signal<Sketch>({});
  /** The node under the pointer. */
  readonly hovered = signal<string | undefined>(undefined);
  /** The open port menu: its node, and its position in the window. */
  readonly portMenu = signal<{ readonly nodeId: string; readonly x: number; readonly y: number } | undefined>(undefined);
  /** The open project. */
  readonly project = signal<ProjectState | undefined>(undefined);

  constructor() {
    effect(() => {
      // The name of the browser is no name beside others who have the project open.
      const guest = this.project.value?.presence.guestName.value ?? '';
      sender.name = this.server.rights.account.value ? '' : this.ownName.value || guest;
      if (sender.name !== '') sender.names.add(sender.name);
    });
    // Panels lie over the canvas in a narrow window, and over a console that opens there.
    effect(() => {
      if (this.consoles.wanted.value === undefined || !matchMedia('(max-width: 620px)').matches) return;
      this.tools.paletteOpen.value = false;
      this.tools.inspectorOpen.value = false;
    });
    effect(() => {
      if (this.router.view.value) untracked(() => this.toasts.leaveView());
    });
    effect(() => {
      const view = this.router.view.value;
      const shown = this.project.peek();
      const wanted = view.name === 'project' ? view.projectId : undefined;
      if (shown?.id === wanted) return;
      shown?.close();
      this.consoles.clear();
      if (wanted !== undefined) this.consoles.restore(wanted);
      this.tools.reset();
      this.sketch.value = {};
      void this.server.rights.show(wanted);
      this.project.value = wanted === undefined ? undefined : new ProjectState(api, wanted, this.ownName);
    });
    effect(() => {
      const shown = this.project.value;
      const { known, projects } = this.server;
      if (!shown || !known.value || !projects.ids.value) return;
      const listed = projects.find(shown.id);
      untracked(() => shown.listed(listed));
    });
  }
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error('a view stands outside the page');
  return app;
}

/** Project of a view inside an open project. */
export function useProject(): ProjectState {
  const project = useApp().project.value;
  if (!project) throw new Error('a view of a project stands where there is none');
  return project;
}
