/** Records of the project's own fields. */
import { canonical } from '../../model/canonical.ts';
import { StoredProject } from '../../model/stored.ts';
import type { ProjectEntry } from '../../model/topology.ts';
import { withoutView } from '../../model/view-settings.ts';
import { type ActionRules, differing, isAsLeft } from './action-rules.ts';

export const projectRules: { 'project.updated': ActionRules<'project.updated'> } = {
  'project.updated': {
    schema: { event: StoredProject, was: StoredProject },
    apply: (state, { event }) => {
      state.project = toProjectEntry(state.project, event);
    },
    conflict: ({ project }, { event, was }) =>
      isAsLeft(project.entry, event, withoutView(differing(was, event)))
        ? undefined
        : 'the settings of the project were changed since',
    invert: (project, { event, was }) => project.update(withoutView(differing(was, event))),
    // Listeners of the controller are sent it; they have no `seq`.
    notice: () => undefined,
  },
};

/** The stored fields of a project object. */
export function toProjectEntry(before: ProjectEntry, given: object): ProjectEntry {
  const fields = given as Record<string, unknown>;
  const changed = Object.keys(before).map((key) => [key, key in fields ? fields[key] : (before as Record<string, unknown>)[key]]);
  return canonical(Object.fromEntries(changed)) as ProjectEntry;
}
