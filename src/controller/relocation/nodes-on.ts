/** The nodes of an open project that are on a compute. */
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import { findKind } from '../model/node.ts';

export function nodesOn(live: LiveProject, compute: RegisteredCompute): OpenNode[] {
  return [...live.nodes.all()].filter((node) => node.entry.compute_id === compute.id);
}

export function isRunning({ live, entry }: OpenNode): boolean {
  return live.status !== 'stopped' && !findKind(entry.node_type)?.alwaysRunning;
}

/** The project is not closed or copied meanwhile, and nothing else moves the node. */
export async function whileMoving<T>(node: OpenNode, fn: () => Promise<T>): Promise<T> {
  node.isMoving = true;
  try {
    return await fn();
  } finally {
    node.isMoving = false;
  }
}
