/**
 * Counts the objects that reverting a step would change. The first and the last change of the step to an object decide how it
 * counts.
 */
import type { StepPreview } from '../../../schema/history.ts';
import type { Action, LogRecord } from '../../log/records.ts';
import type { Step } from '../../log/steps.ts';

type Sort = 'nodes' | 'links' | 'drawings';

interface Touched {
  readonly sort: Sort;
  /** Whether the object was created in the step; `isDeleted`: whether it was deleted. */
  readonly isCreated: boolean;
  isDeleted: boolean;
}

export function previewOf({ id, records }: Step): StepPreview {
  const { at = '', by = null } = records[0] ?? {};
  const things = thingsIn(records);
  const count = (matches: (thing: Touched) => boolean) => things.filter(matches).length;
  return {
    ...{ step: id, at, by },
    nodes: count(({ sort }) => sort === 'nodes'),
    links: count(({ sort }) => sort === 'links'),
    drawings: count(({ sort }) => sort === 'drawings'),
    deletes: count(({ isCreated, isDeleted }) => isCreated && !isDeleted),
    restores: count(({ isCreated, isDeleted }) => isDeleted && !isCreated),
  };
}

function thingsIn(records: readonly LogRecord[]): Touched[] {
  const things = new Map<string, Touched>();
  for (const record of records) {
    const subject = subjectOf(record);
    if (!subject) continue;
    const known = things.get(subject.id);
    const isDeleted = record.action.endsWith('.deleted');
    if (known) known.isDeleted = isDeleted;
    else things.set(subject.id, { sort: subject.sort, isCreated: record.action.endsWith('.created'), isDeleted });
  }
  return [...things.values()];
}

/** Undefined for what is no node, link or drawing. */
function subjectOf({ action, event }: LogRecord): { readonly sort: Sort; readonly id: string } | undefined {
  const sort = sortOf(action);
  if (!sort) return undefined;
  const { node_id, link_id, drawing_id } = event as Readonly<Record<string, string | undefined>>;
  const id = { nodes: node_id, links: link_id, drawings: drawing_id }[sort];
  return id === undefined ? undefined : { sort, id };
}

function sortOf(action: Action): Sort | undefined {
  if (action === 'node.deleting') return undefined;
  if (action.startsWith('node.')) return 'nodes';
  if (action.startsWith('link.')) return 'links';
  return action.startsWith('drawing.') ? 'drawings' : undefined;
}
