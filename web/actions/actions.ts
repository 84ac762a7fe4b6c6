/** All commands of the page, in the order in which they are listed. */
import type { Action, ActionPlace } from './action.ts';
import { arrangeActions } from './arrange.ts';
import { copy, duplicateSelected, paste } from './clipboard.ts';
import { openAllConsoles, openConsoles } from './console.ts';
import { deleteSelected } from './delete.tsx';
import { groupActions } from './groups.ts';
import { redo, undo } from './history.ts';
import { labelActions } from './labels.ts';
import { linkActions } from './link.tsx';
import { moveNode } from './move.ts';
import { nudgeActions } from './nudge.ts';
import { overlayActions } from './overlays.ts';
import { pageActions } from './page.tsx';
import { powerActions } from './power.ts';
import { projectActions } from './project.tsx';
import { leave, openMenu, selectAll, selectLinks, selectNext, selectPrevious } from './selection.ts';
import { toolActions } from './tools.ts';
import { tracePacket } from './trace.ts';
import { viewActions } from './view.tsx';
import { keepWarmTemplate } from './warm-template.ts';

export const actions: readonly Action[] = [
  openConsoles,
  openAllConsoles,
  ...powerActions,
  moveNode,
  keepWarmTemplate,
  tracePacket,
  ...linkActions,
  undo,
  redo,
  copy,
  paste,
  duplicateSelected,
  deleteSelected,
  selectAll,
  selectNext,
  selectPrevious,
  ...selectLinks,
  openMenu,
  leave,
  ...toolActions,
  ...arrangeActions,
  ...groupActions,
  ...nudgeActions,
  ...labelActions,
  ...viewActions,
  ...overlayActions,
  ...projectActions,
  ...pageActions(() => actions),
];

/** @throws Error when no such command exists: a defect of the page */
export function getAction(id: string): Action {
  const action = actions.find((one) => one.id === id);
  if (!action) throw new Error(`there is no command ${id}`);
  return action;
}

export const actionsAt = (place: ActionPlace): readonly Action[] => actions.filter(({ places }) => places?.includes(place));
