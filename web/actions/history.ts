/** Undo and redo, if the server keeps a history. */
import { texts } from '../texts.ts';
import { type Action, inProject } from './action.ts';

const maker = (verb: 'undo' | 'redo', keys: readonly string[]): Action => ({
  id: verb,
  label: texts.actions[verb],
  group: 'edit',
  icon: verb,
  keys,
  places: ['toolbar', 'canvas'],
  enabled: inProject,
  run: ({ app, project }) => project && app.api.post(`${project.path}/${verb}`),
});

export const undo = maker('undo', ['Mod+Z']);
export const redo = maker('redo', ['Mod+Shift+Z', 'Mod+Y']);
