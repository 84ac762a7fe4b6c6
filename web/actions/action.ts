/** A command of the page. Menus, the toolbar, the keyboard and the `?` page are made of the list in `actions.ts`. */
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import type { IconName } from '../ui/icon.tsx';

export type ActionGroup = 'nodes' | 'links' | 'edit' | 'draw' | 'arrange' | 'view' | 'project' | 'page';

export interface ActionContext {
  readonly app: App;
  /** Undefined outside of an open project. */
  readonly project: ProjectState | undefined;
}

/** Where a command is offered besides the keyboard and the `?` page. */
export type ActionPlace = 'toolbar' | 'node' | 'link' | 'drawing' | 'canvas';

export interface Action {
  readonly id: string;
  readonly label: string;
  readonly group: ActionGroup;
  readonly icon?: IconName;
  /** As `Mod+Shift+Z`; `Mod` is Ctrl, on Apple's machines Command. */
  readonly keys?: readonly string[];
  /** Its keys are left to the browser, which makes an event of them that does it. */
  readonly byBrowser?: boolean;
  readonly places?: readonly ActionPlace[];
  /** Its keys work also while something is typed; in a console only those with `Mod`. */
  readonly everywhere?: boolean;
  /** It destroys something. */
  readonly danger?: boolean;
  /** False: it is not shown at all, because this server cannot do it. */
  readonly offered?: (context: ActionContext) => boolean;
  readonly enabled: (context: ActionContext) => boolean;
  /** For commands that switch something: whether it is on. */
  readonly on?: (context: ActionContext) => boolean;
  readonly run: (context: ActionContext) => unknown;
}

/** Of commands that need an open project. */
export const inProject = ({ project }: ActionContext): boolean => project?.phase.value === 'opened';

export const contextOf = (app: App): ActionContext => ({ app, project: app.project.value });

/** Does it, when it can be done now; what goes wrong is said. */
export function runAction(action: Action, app: App): void {
  const context = contextOf(app);
  if (action.offered?.(context) === false || !action.enabled(context)) return;
  void app.toasts.attempt(async () => {
    await action.run(context);
  });
}
