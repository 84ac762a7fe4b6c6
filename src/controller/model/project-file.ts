/**
 * The project's own fields as they stand in the project file. GNS3 refuses a file with a field that it does not know, and keeps the
 * project's variables: in the file our own settings are among them, and nowhere else.
 */
import { type ProjectUpdate, projectDefaults } from '../../schema/project.ts';
import type { ProjectEntry } from './topology.ts';

const linkStateName = 'PATCHBAY_REPLICATE_LINK_STATE';
const onCloseName = 'PATCHBAY_ON_CLOSE';
/** `<minutes> <bytes>`; absent without checkpoints of the usual size. */
const checkpointsName = 'PATCHBAY_CHECKPOINTS';
/** A week, as the schema of projects. */
const mostMinutes = 10_080;
const ownNames = new Set([linkStateName, onCloseName, checkpointsName]);

export function projectToFile({
  replicate_link_state,
  on_close,
  checkpoint_bytes,
  checkpoint_minutes,
  variables,
  ...fields
}: ProjectEntry): object {
  const hasCheckpoints = checkpoint_minutes !== 0 || checkpoint_bytes !== projectDefaults.checkpoint_bytes;
  const own = [
    ...(replicate_link_state ? [{ name: linkStateName, value: '1' }] : []),
    ...(on_close === 'freeze' ? [{ name: onCloseName, value: on_close }] : []),
    ...(hasCheckpoints ? [{ name: checkpointsName, value: `${checkpoint_minutes} ${checkpoint_bytes}` }] : []),
  ];
  return { ...fields, variables: own.length > 0 ? [...(variables ?? []), ...own] : variables };
}

/** `variables` as they were checked, or of any type. */
export function projectFromFile<T extends { readonly variables?: unknown }>(fields: T): T {
  const { variables } = fields;
  if (!Array.isArray(variables)) return fields;
  const list = (variables as NonNullable<ProjectUpdate['variables']>).filter((variable) => variable !== null);
  const own = new Map(list.filter(({ name }) => ownNames.has(name)).map(({ name, value }) => [name, value]));
  if (own.size === 0) return fields;
  const others = list.filter(({ name }) => !ownNames.has(name));
  return {
    ...fields,
    ...(own.has(linkStateName) && { replicate_link_state: true }),
    ...(own.get(onCloseName) === 'freeze' && { on_close: 'freeze' }),
    ...checkpointsIn(own.get(checkpointsName)),
    variables: others.length > 0 ? others : null,
  };
}

/** Parses the checkpoint settings of a file that others may have written. A value that no client could set counts as absent. */
function checkpointsIn(text: string | undefined): object | undefined {
  const [, minutes, bytes] = /^(\d{1,5}(?:\.\d+)?) (\d{1,16})$/.exec(text ?? '') ?? [];
  const settings = { checkpoint_minutes: Number(minutes), checkpoint_bytes: Number(bytes) };
  return settings.checkpoint_minutes <= mostMinutes && settings.checkpoint_bytes >= 1 ? settings : undefined;
}
