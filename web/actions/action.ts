/** A command of the page. Menus, the toolbar, the keyboard and the `?` page are built from the list in `actions.ts`. */
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { sayWhyNot } from '../state/why.ts';
import type { IconName } from '../ui/icon.tsx';
import { lackedBy } from './needs.ts';

export type ActionGroup = 'nodes' | 'links' | 'edit' | 'draw' | 'arrange' | 'view' | 'project' | 'page';

export interface ActionContext {
  readonly app: App;
  /** Undefined outside of an open project. */
  readonly project: ProjectState | undefined;
}

/** Where a command appears besides the keyboard and the `?` page. */
export type ActionPlace = 'toolbar' | 'node' | 'link' | 'drawing' | 'canvas';

/**
 * Where the keys of a command work besides the page itself. `inFields`: while the user types in a field; `everywhere`: in a console, too,
 * if they have `Mod`; `byBrowser`: the browser handles them and emits an event that runs the command.
 */
export type KeyScope = 'inFields' | 'everywhere' | 'byBrowser';

export interface Action {
  readonly id: string;
  readonly label: string;
  readonly group: ActionGroup;
  readonly icon?: IconName;
  /** Shortcuts, for example `Mod+Shift+Z`; `Mod` is Ctrl, on Apple's machines Command. */
  readonly keys?: readonly string[];
  /** Default: on the page, but not while the user types in a field or a console. */
  readonly keysWork?: KeyScope;
  readonly places?: readonly ActionPlace[];
  /** The command destroys something. */
  readonly danger?: boolean;
  /** False: the command is hidden, because this server does not support it. */
  readonly offered?: (context: ActionContext) => boolean;
  readonly enabled: (context: ActionContext) => boolean;
  /** State of a toggle: whether it is on. */
  readonly on?: (context: ActionContext) => boolean;
  readonly run: (context: ActionContext) => unknown;
}

/** Condition of commands that need an open project. */
export const inProject = ({ project }: ActionContext): boolean => project?.phase.value === 'opened';

export const contextOf = (app: App): ActionContext => ({ app, project: app.project.value });

/** Runs the command if it is enabled; shows an error as a toast, and why the account may not run it. */
export function runAction(action: Action, app: App): void {
  const context = contextOf(app);
  if (action.offered?.(context) === false || !action.enabled(context)) return;
  const lacked = lackedBy(action, context);
  if (lacked !== undefined) return void sayWhyNot(app, lacked, context.project?.id);
  void app.toasts.attempt(async () => {
    await action.run(context);
  });
}
