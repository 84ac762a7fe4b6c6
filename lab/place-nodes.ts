/**
 * Chooses computes for nodes that the file leaves to the server (`auto`): for the whole lab at once, so that few links cross the
 * network.
 */
import type { BulkNode } from '../src/schema/bulk.ts';
import type { Node } from '../src/schema/node.ts';
import type { Lab, LabLink } from './file/lab.ts';
import type { NodeStep } from './plan/lab-plan.ts';
import type { LabApi } from './state/lab-api.ts';

/** Most nodes and links of one placement request. In larger labs the request that creates a node places it. */
const mostNodes = 2_000;
const mostLinks = 5_000;

interface PlannedComputes {
  readonly nodes: readonly { readonly ref: string; readonly compute_id: string | null }[];
}

/** Returns the steps, with a compute for each placed node that fits. `path`: of the project, whose other nodes stay. */
export async function placeNodes(api: LabApi, lab: Lab, path: string, steps: readonly NodeStep[]): Promise<readonly NodeStep[]> {
  if (!steps.some(({ create }) => create?.compute_id === 'auto')) return steps;
  const present = await api.json<Node[]>('GET', `${path}/nodes`);
  const created = new Set(steps.map(({ name }) => name));
  const nodes = [
    ...present.filter(({ name }) => !created.has(name)).map(({ name, ...node }) => partOf(name, node)),
    ...steps.flatMap(({ name, create }) => (create ? [partOf(name, create)] : [])),
  ];
  if (nodes.length > mostNodes || lab.links.length > mostLinks) return steps;
  const refs = new Set(nodes.map(({ ref }) => ref));
  const links = lab.links.filter(({ ends }) => ends.every(({ node }) => refs.has(node))).map(linkOf);
  const planned = await api.json<PlannedComputes>('POST', '/v2/placement', { nodes, links });
  const computes = new Map(planned.nodes.map(({ ref, compute_id }) => [ref, compute_id]));
  return steps.map((step) => {
    const compute_id = computes.get(step.name);
    if (step.create?.compute_id !== 'auto' || !compute_id) return step;
    return { ...step, create: { ...step.create, compute_id } };
  });
}

function partOf(
  ref: string,
  { node_type, properties = {}, compute_id }: Pick<BulkNode, 'node_type' | 'properties' | 'compute_id'>,
) {
  // Memory and processors are numbers; the placement ignores other properties.
  const numbers = Object.entries(properties).filter(([, value]) => typeof value === 'number');
  return { ref, node_type, properties: Object.fromEntries(numbers), ...(compute_id !== 'auto' && { compute_id }) };
}

function linkOf({ ends, filters }: LabLink) {
  const [delay = 0] = (filters.delay ?? filters.latency ?? []).map(Number);
  return { nodes: ends.map(({ node }) => node), ...(delay > 0 && { delay }) };
}
