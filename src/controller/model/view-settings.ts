/** View settings of a project: stored and announced like its other fields, but not undone. */
import { isDeepStrictEqual } from 'node:util';
import type { ProjectEntry } from './topology.ts';

const viewSettings: ReadonlySet<keyof ProjectEntry> = new Set([
  'drawing_grid_size',
  'grid_size',
  'scene_height',
  'scene_width',
  'show_grid',
  'show_interface_labels',
  'show_layers',
  'snap_to_grid',
  'zoom',
] as const);

/** The fields of a project without its view settings. */
export function withoutView(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !(viewSettings as ReadonlySet<string>).has(key)));
}

/** Whether a change is of more than the view. */
export function isUndoable(was: ProjectEntry, entry: ProjectEntry): boolean {
  return !isDeepStrictEqual(withoutView(was), withoutView(entry));
}
