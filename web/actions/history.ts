/**
 * Undo and redo: of the last step, or beside others who have the project open of the last step of one's own. Only a step that deletes
 * running machines is reverted after a question: redo restores all else.
 */
import type { History } from '../../src/schema/history.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { type Action, inProject } from './action.ts';

const maker = (verb: 'undo' | 'redo', keys: readonly string[]): Action => ({
  id: verb,
  label: texts.actions[verb],
  group: 'edit',
  icon: verb,
  keys,
  places: ['toolbar', 'canvas'],
  enabled: inProject,
  run: ({ app, project }) => project?.steps.run(() => revert(app, project, verb)),
});

/** @throws ApiError, also when another user has made or reverted a step meanwhile */
async function revert(app: App, project: ProjectState, verb: 'undo' | 'redo'): Promise<void> {
  await project.moves.settled();
  if (project.presence.others.peek().length > 0) {
    const { revertOwn } = await import('./revert-own.ts');
    return revertOwn(app, project, verb);
  }
  const { preview } = await app.api.get<History>(`${project.path}/history?limit=1`);
  const step = preview[verb];
  if (step && step.running > 0 && !(await ask(app, texts.askRevert(verb, step)))) return;
  await app.api.post(`${project.path}/${verb}`, step ? { step: step.step } : undefined);
}

export const undo = maker('undo', ['Mod+Z']);
export const redo = maker('redo', ['Mod+Shift+Z', 'Mod+Y']);
