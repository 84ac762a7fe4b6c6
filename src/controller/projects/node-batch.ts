/** Runs an operation on all nodes of a project: each node is attempted, then one of the errors is thrown. */
import { isFault } from '../../api/faults.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { isInOwnFabric, makingConcurrency } from '../live/bulk.ts';
import type { NodeRuns } from '../live/nodes/node-runs.ts';
import type { NodeVerb } from '../live/nodes/node-verbs.ts';
import type { ProjectNodes } from '../live/nodes/project-nodes.ts';
import { findKind, type NodeObject } from '../model/node.ts';

interface NodesOfProject {
  readonly nodes: ProjectNodes;
  readonly runs: Pick<NodeRuns, 'act'>;
  notify(action: string, event: object): void;
}

/** Runs an operation on one node. The requester is answered, and all who have the project open are sent a failure. */
export async function actOnOne(project: NodesOfProject, nodeId: string, verb: NodeVerb, body: unknown): Promise<NodeObject> {
  try {
    return await project.runs.act(nodeId, verb, body);
  } catch (error) {
    report(project, nodeId, error as Error);
    throw error;
  }
}

/** The code is that of `docs/errors.md`; empty for an error without one. */
function report(project: NodesOfProject, nodeId: string, error: Error): void {
  if (!project.nodes.find(nodeId)) return;
  const code = isFault(error) ? error.code : '';
  project.notify('failure.reported', { node_id: nodeId, message: error.message, code });
}

/** Listeners are sent every failure; an answer has room for one. */
export async function actOnAll(project: NodesOfProject, action: NodeVerb): Promise<void> {
  const { nodes, runs } = project;
  const actions: readonly NodeVerb[] = action === 'reload' ? ['stop', 'start'] : [action];
  const act = async (nodeId: string, each: NodeVerb) => {
    try {
      await runs.act(nodeId, each);
    } catch (error) {
      report(project, nodeId, error as Error);
      const name = nodes.find(nodeId)?.entry.name;
      if (name !== undefined) project.notify('log.error', { message: `Node ${name}: ${(error as Error).message}` });
      throw error;
    }
  };
  for (const each of actions) await forAll(nodes, nodes.ids(), (nodeId) => act(nodeId, each));
}

/** Nodes with a telnet console only. */
export async function resetAllConsoles(nodes: ProjectNodes): Promise<void> {
  const withConsole = nodes
    .entries()
    .filter(({ console, console_type }) => console !== null && console_type === 'telnet')
    .filter(({ node_type }) => findKind(node_type)?.can.resetConsole);
  await forAll(
    nodes,
    withConsole.map(({ node_id }) => node_id),
    (nodeId) => nodes.resetConsole(nodeId),
  );
}

/**
 * A few at once on each compute: hosts work side by side, and a slow one holds up no other. Nodes in the fabric of this host start no program:
 * many of them share a sync. A node that was deleted meanwhile is no error.
 */
async function forAll(nodes: ProjectNodes, nodeIds: readonly string[], fn: (nodeId: string) => Promise<unknown>): Promise<void> {
  const attempt = async (nodeId: string) => {
    try {
      await fn(nodeId);
    } catch (error) {
      if (nodes.find(nodeId)) throw error;
    }
  };
  const isCheap = (nodeId: string) => isInOwnFabric(nodes.find(nodeId)?.entry);
  const inFabric = nodeIds.filter(isCheap);
  const byCompute = Map.groupBy(
    nodeIds.filter((nodeId) => !isCheap(nodeId)),
    (nodeId) => nodes.find(nodeId)?.entry.compute_id,
  );
  const errors = await Promise.all([
    forEachBounded(inFabric, makingConcurrency, attempt),
    ...Array.from(byCompute.values(), (ids) => forEachBounded(ids, concurrency, attempt)),
  ]);
  const [error] = errors.flat();
  if (error !== undefined) throw error;
}
