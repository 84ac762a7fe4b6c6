/** Undo and redo of what this page's user changed, while others change the project too. */
import type { History, HistoryEntry, StepPreview } from '../../src/schema/history.ts';
import { sender } from '../api.ts';
import { isRunning } from '../dialogs/activity.ts';
import { activityTexts } from '../dialogs/activity-texts.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';

/** Entries of the history in which a step is looked for. */
const lookedAt = 200;
/** The server cuts longer names. Characters. */
const nameLength = 100;

/** Leaves all that was changed since. @throws ApiError, also when something that was changed since needs the step */
export async function revertOwn(app: App, project: ProjectState, verb: 'undo' | 'redo'): Promise<void> {
  const { entries, undoable, redoable } = await app.api.get<History>(`${project.path}/history?limit=${lookedAt}`);
  const own = new Set([
    ...sender.names,
    app.server.rights.account.peek()?.username,
    navigator.userAgent.slice(0, nameLength).trim(),
  ]);
  const changes = Map.groupBy(entries, ({ step }) => step);
  const id = (verb === 'undo' ? undoable : redoable).find((step) => own.has(changes.get(step)?.[0]?.by ?? ''));
  if (id === undefined) return app.toasts.show('info', activityTexts.nothingOfYours(verb));
  const preview = previewOf(id, changes.get(id) ?? [], (nodeId) => isRunning(app, project, nodeId));
  if (preview.running > 0 && !(await ask(app, texts.askRevert(verb, preview)))) return;
  await app.api.post(`${project.path}/${verb}`, { only: id });
}

function previewOf(step: number, changes: readonly HistoryEntry[], runs: (nodeId: string) => boolean): StepPreview {
  const idsOf = (...actions: readonly string[]) =>
    new Set(changes.filter(({ action }) => actions.includes(action)).map(({ id }) => id));
  const sizeOf = (kind: string) => idsOf(`${kind}.created`, `${kind}.updated`, `${kind}.deleted`).size;
  const deleted = idsOf('node.deleted');
  const made = [...idsOf('node.created')].filter((id) => !deleted.has(id));
  return {
    ...{ step, at: changes[0]?.at ?? '', by: changes[0]?.by ?? null },
    ...{ nodes: sizeOf('node'), links: sizeOf('link'), drawings: sizeOf('drawing') },
    deletes: made.length,
    restores: idsOf('node.deleted', 'link.deleted', 'drawing.deleted').size,
    running: made.filter(runs).length,
  };
}
