/** Nodes that are on another compute by now, and were left behind as theirs was away or could not be reached. */
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';

/**
 * Nodes that were moved while it was away, found by their folders; their files are kept there for a limited time. Switches in the fabric
 * have no folder: without links they do nothing.
 */
export async function removeStrays(live: LiveProject, compute: RegisteredCompute): Promise<void> {
  const path = { project_id: live.projectId };
  const files = await compute.transport.call('GET /v2/compute/projects/{project_id}/files', { path }).catch(() => []);
  for (const nodeId of new Set(files.map(({ path: file }) => file.split('/')[2] ?? ''))) {
    const node = live.nodes.find(nodeId);
    if (node && node.entry.compute_id !== compute.id) await deleteStray(live, node, compute);
  }
}

export async function deleteStray(live: LiveProject, node: OpenNode, compute: RegisteredCompute): Promise<void> {
  const path = { project_id: live.projectId, node_id: node.id };
  const key = `DELETE /v2/compute/projects/{project_id}/${node.entry.node_type}/nodes/{node_id}` as const;
  await compute.transport.send(key, { path, body: { keep_files: true } }).catch(() => undefined);
}
