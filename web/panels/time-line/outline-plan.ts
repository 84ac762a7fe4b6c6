/** Compares a snapshot with the present, in the form of a plan of a lab file: the nodes and links that a rewind to it restores, moves and removes. */
import type { LabPlanReply } from '../../../src/schema/lab.ts';
import type { Link } from '../../../src/schema/link.ts';
import type { Node } from '../../../src/schema/node.ts';
import type { SnapshotOutline } from '../../../src/schema/outline.ts';
import type { RewindCounts } from '../../texts/time-line.ts';

type Step = LabPlanReply['steps'][number];

interface Present {
  readonly nodes: readonly Node[];
  readonly links: readonly Link[];
}

export function planOf(outline: SnapshotOutline, { nodes, links }: Present): LabPlanReply {
  const [there, linked] = [new Map(nodes.map((node) => [node.node_id, node])), new Set(links.map(({ link_id }) => link_id))];
  const names = new Map(outline.nodes.map(({ node_id, name }) => [node_id, name]));
  const [kept, keptLinks] = [names, new Set(outline.links.map(({ link_id }) => link_id))];
  const actionOf = ({ node_id, name, x, y }: SnapshotOutline['nodes'][number]) => {
    const now = there.get(node_id);
    if (!now) return 'create';
    return now.x === x && now.y === y && now.name === name ? null : 'update';
  };
  const shown = outline.nodes.map((node) => ({ ...node, action: actionOf(node) }) as const);
  const step = (what: Step['what'], action: Step['action'], name: string, id: string): Step => {
    return { what, action, name, id, restart: false, changes: [] };
  };
  // Where the outline has not all, what it lacks may be in the snapshot.
  const gone = outline.complete ? nodes.filter(({ node_id }) => !kept.has(node_id)) : [];
  const goneLinks = outline.complete ? links.filter(({ link_id }) => !keptLinks.has(link_id)) : [];
  return {
    ...{ name: '', project_id: null, missing: [], unseen: [], lines: [] },
    steps: [
      ...shown.flatMap(({ node_id, name, action }) => (action ? [step('node', action, name, node_id)] : [])),
      ...gone.map(({ node_id, name }) => step('node', 'delete', name, node_id)),
      ...goneLinks.map(({ link_id }) => step('link', 'delete', link_id, link_id)),
    ],
    picture: {
      nodes: shown.map(({ name, x, y, action }) => ({ name, x, y, action })),
      links: outline.links.map(({ link_id, ends }) => ({
        ends: ends.map((id) => names.get(id) ?? ''),
        action: linked.has(link_id) ? null : 'create',
      })),
    },
  };
}

/** Prepares a plan for the canvas, which looks places up by names without spaces. */
export function planOnCanvas({ steps, picture: { nodes, links }, ...plan }: LabPlanReply): LabPlanReply {
  const bare = (name: string) => name.replaceAll(' ', '');
  return {
    ...plan,
    steps,
    picture: {
      nodes: nodes.map((node) => ({ ...node, name: bare(node.name) })),
      links: links.map((link) => ({ ...link, ends: link.ends.map(bare) })),
    },
  };
}

export function countsOf({ steps, picture }: LabPlanReply): RewindCounts {
  const nodes = (action: Step['action']) => steps.filter((one) => one.what === 'node' && one.action === action).length;
  return {
    returns: nodes('create'),
    moves: nodes('update'),
    goes: nodes('delete'),
    linksReturn: picture.links.filter(({ action }) => action === 'create').length,
    linksGo: steps.filter(({ what }) => what === 'link').length,
  };
}
