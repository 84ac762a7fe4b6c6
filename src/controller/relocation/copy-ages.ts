import type { NodeCopies } from '../copies/node-copies.ts';
import type { UnmadeNode } from '../live/host/project-context.ts';

/** Nodes in one message. */
const namedAtMost = 10;

/** The times of the copies from which nodes of a lost slice start, as a sentence. */
export function agesOf(nodes: readonly UnmadeNode[], copies: Pick<NodeCopies, 'describe'>): string {
  const named = nodes.map(({ id, entry }) => ({ name: entry.name, from: copies.describe(id).started_from }));
  const copied = named.filter(({ from }) => from !== null);
  const shown = copied.slice(0, namedAtMost).map(({ name, from }) => `${name} ${from}`);
  const rest = copied.length > shown.length ? ` and ${copied.length - shown.length} more` : '';
  const without = nodes.length - copied.length;
  return [
    ...(copied.length > 0 ? [`They start from the last copies of their files: ${shown.join(', ')}${rest}.`] : []),
    ...(without > 0 ? [`${without} without a copy of their files start as new nodes.`] : []),
  ].join(' ');
}
