/** What is done with all nodes of a project: each is attempted, then one of the errors is thrown. */
import { concurrency, forEachBounded } from './bounded.ts';
import { findKind } from './node.ts';
import type { NodeAction, ProjectNodes } from './project-nodes.ts';

export async function actOnAll(nodes: ProjectNodes, action: NodeAction): Promise<void> {
  const actions: readonly NodeAction[] = action === 'reload' ? ['stop', 'start'] : [action];
  for (const each of actions) await forAll(nodes.ids(), (nodeId) => nodes.act(nodeId, each));
}

/** Nodes with a telnet console only. */
export async function resetAllConsoles(nodes: ProjectNodes): Promise<void> {
  const withConsole = nodes
    .entries()
    .filter(({ console, console_type }) => console !== null && console_type === 'telnet')
    .filter(({ node_type }) => findKind(node_type)?.can.resetConsole);
  await forAll(
    withConsole.map(({ node_id }) => node_id),
    (nodeId) => nodes.relay(nodeId, 'console/reset'),
  );
}

async function forAll(nodeIds: readonly string[], fn: (nodeId: string) => Promise<unknown>): Promise<void> {
  const [error] = await forEachBounded(nodeIds, concurrency, fn);
  if (error !== undefined) throw error;
}
