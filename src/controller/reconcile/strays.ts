/**
 * Nodes that a compute keeps of an open project although they are on another compute by now, or not part of the project, and joined ports
 * without a link: the compute had answered, and the server died or was cut off before it could record that, or undo it.
 */
import type { NodeType } from '../../schema/node.ts';
import type { ComputeNodeRun } from '../../schema/node-runs.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import { unbindNio } from '../live/nodes/node-nios.ts';
import { unlessMissing } from '../live/nodes/open-node.ts';

/** A node that a compute keeps. One of an earlier version does not tell types and ports. */
type KeptNode = Pick<ComputeNodeRun, 'node_id' | 'joined_ports'> & Partial<Pick<ComputeNodeRun, 'node_type'>>;

/**
 * Removes them; files of nodes are kept there for a limited time. @throws what the compute answers
 */
export async function removeStrays(live: LiveProject, compute: RegisteredCompute): Promise<void> {
  for (const kept of await nodesOn(live, compute)) {
    const { node_id } = kept;
    const isStray = () => {
      const node = live.nodes.find(node_id);
      if (!node) return kept.node_type !== undefined;
      // Files on the compute in this process are the project's own: they stay until the node's compute has been sent them.
      return node.entry.compute_id !== compute.id && (!compute.isLocal || node.isPresent);
    };
    const strayPorts = () => (kept.joined_ports ?? []).filter((port) => !live.links.isTaken({ ...port, node_id }));
    if (!isStray() && strayPorts().length === 0) continue;
    // A node or link that is being created becomes part of the project, or is removed, before the lock of its nodes is free.
    await live.nodes.locks.run(node_id, async () => {
      const node = live.nodes.find(node_id);
      const node_type = node?.entry.node_type ?? kept.node_type;
      if (node_type && isStray()) await deleteStray(live, { node_id, node_type }, { compute, keep_files: true });
      else if (node?.compute === compute)
        for (const { adapter_number: adapter, port_number: port } of strayPorts())
          await unbindNio(node, { adapter, port }).catch(unlessMissing);
    });
  }
}

/** A compute of an earlier version has no list: its nodes are found by their folders, which switches do not have. */
async function nodesOn(live: LiveProject, { transport, hasNodeRuns }: RegisteredCompute): Promise<readonly KeptNode[]> {
  const path = { project_id: live.projectId };
  if (hasNodeRuns) return transport.call('GET /v2/compute/projects/{project_id}/nodes', { path });
  const files = (await transport.call('GET /v2/compute/projects/{project_id}/files', { path }).catch(unlessMissing)) ?? [];
  return Array.from(new Set(files.map(({ path: file }) => file.split('/')[2] ?? '')), (node_id) => ({ node_id }));
}

interface Stray {
  readonly node_id: string;
  readonly node_type: NodeType;
}

/** Removes a node from a compute, where it may be arriving; one that is not there is no error. @throws what the compute answers */
export async function deleteStray(
  { projectId }: LiveProject,
  { node_id, node_type }: Stray,
  { compute, ...body }: { readonly compute: RegisteredCompute; readonly keep_files?: true },
): Promise<void> {
  const { transport, hasLiveMoves } = compute;
  const path = { project_id: projectId, node_id };
  if (hasLiveMoves)
    await transport.send('DELETE /v2/compute/projects/{project_id}/arrivals/{node_id}', { path }).catch(unlessMissing);
  const key = `DELETE /v2/compute/projects/{project_id}/${node_type}/nodes/{node_id}` as const;
  await transport.send(key, { path, body }).catch(unlessMissing);
}
