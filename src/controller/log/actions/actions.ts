/** The rules of every action side by side: how it is checked, applied, reverted and announced. A missing one does not compile. */
import type { Action, Changed, MarkerAction } from '../records.ts';
import type { ActionRules, HowInverted, NoticeView, Outlook, RevertTarget, StoredState } from './action-rules.ts';
import { drawingRules } from './drawing-rules.ts';
import { linkRules } from './link-rules.ts';
import { markerRules } from './marker-rules.ts';
import { nodeRules } from './node-rules.ts';
import { projectRules } from './project-rules.ts';

export const actionRules: { readonly [A in Action]: ActionRules<A> } = {
  ...projectRules,
  ...nodeRules,
  ...linkRules,
  ...drawingRules,
  ...markerRules,
};

export function isAction(name: string): name is Action {
  return Object.hasOwn(actionRules, name);
}

export function isMarker(action: Action): action is MarkerAction {
  return Object.hasOwn(markerRules, action);
}

export function applyChange<A extends Action>(state: StoredState, change: Changed<A>): void {
  actionRules[change.action].apply(state, change);
}

export function conflictOf<A extends Action>(outlook: Outlook, change: Changed<A>): string | undefined {
  return actionRules[change.action].conflict(outlook, change);
}

export async function invertChange<A extends Action>(project: RevertTarget, change: Changed<A>, how?: HowInverted): Promise<void> {
  await actionRules[change.action].invert(project, change, how);
}

export async function noticeOf<A extends Action>(source: NoticeView, change: Changed<A>): Promise<object | undefined> {
  return actionRules[change.action].notice(source, change);
}
