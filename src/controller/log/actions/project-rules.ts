/** Records of the project's own fields. */
import { nullable, strict, Uuid } from '../../../schema/common.ts';
import { Type } from '../../../schema/type.ts';
import { canonical } from '../../model/canonical.ts';
import { StoredProject } from '../../model/stored.ts';
import type { ProjectEntry } from '../../model/topology.ts';
import { withoutView } from '../../model/view-settings.ts';
import { type ActionRules, differing, isAsLeft } from './action-rules.ts';

type ProjectAction = 'project.updated' | 'project.rewound';

export const projectRules: { [A in ProjectAction]: ActionRules<A> } = {
  'project.updated': {
    schema: { event: StoredProject, was: StoredProject },
    apply: (state, { event }) => {
      state.project = toProjectEntry(state.project, event);
    },
    conflict: ({ project, isSeen }, { event, was }) =>
      isSeen(event.project_id) || isAsLeft(project.entry, event, withoutView(differing(was, event)))
        ? undefined
        : 'the settings of the project were changed since',
    invert: (project, { event, was }) => project.update(withoutView(differing(was, event))),
    // Listeners of the controller are sent it; they have no `seq`.
    notice: () => undefined,
  },
  'project.rewound': {
    schema: { event: Type.Object({ project_id: Uuid, name: Type.String(), kept: nullable(Uuid) }, strict), was: Type.Null() },
    apply: () => undefined,
    // The kept present is restored instead: `archive/rewinds.ts`.
    conflict: () => 'the project was rewound in it. Undo the changes after the rewind, and then the rewind',
    invert: async () => undefined,
    notice: () => undefined,
  },
};

/** The stored fields of a project object. */
export function toProjectEntry(before: ProjectEntry, given: object): ProjectEntry {
  const fields = given as Record<string, unknown>;
  const changed = Object.keys(before).map((key) => [key, key in fields ? fields[key] : (before as Record<string, unknown>)[key]]);
  return canonical(Object.fromEntries(changed)) as ProjectEntry;
}
