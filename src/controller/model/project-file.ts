/**
 * The project's own fields as they stand in the project file. GNS3 refuses a file with a field that it does not know, and keeps the
 * project's variables: in the file our own setting is one of them, and nowhere else.
 */
import type { ProjectUpdate } from '../../schema/project.ts';
import type { ProjectEntry } from './topology.ts';

const variableName = 'PATCHBAY_REPLICATE_LINK_STATE';
const isOurs = ({ name }: { readonly name: string }) => name === variableName;

export function projectToFile({ replicate_link_state, variables, ...fields }: ProjectEntry): object {
  const all = replicate_link_state ? [...(variables ?? []), { name: variableName, value: '1' }] : variables;
  return { ...fields, variables: all };
}

/** `variables` as they were checked, or of any type. */
export function projectFromFile<T extends { readonly variables?: unknown }>(fields: T): T {
  const { variables } = fields;
  if (!Array.isArray(variables)) return fields;
  const list = (variables as NonNullable<ProjectUpdate['variables']>).filter((variable) => variable !== null);
  if (!list.some(isOurs)) return fields;
  const others = list.filter((variable) => !isOurs(variable));
  return { ...fields, replicate_link_state: true, variables: others.length > 0 ? others : null };
}
