/** A machine of a kind that does not run here becomes one of a kind that does: disks, network adapters and memory. */
import { fault } from '../../../api/faults.ts';
import { kinds } from '../../../emulators/kinds.ts';
import type { NodeCreate } from '../../../schema/node.ts';
import { kindOf, type NodeObject } from '../../model/node.ts';
import type { ProjectNodes } from './project-nodes.ts';

/** Beside the node, so that both are seen: pixels. */
const besidePx = 80;
/** As long as the compute's own limit. */
const convertTimeoutMs = 6 * 3600_000;

/**
 * Converts disks of the compute's image folder, and makes a node with them beside the old one, which stays with its links.
 * @throws node_not_convertible, and why the compute refuses a disk or the node
 */
export async function convertNode(nodes: ProjectNodes, nodeId: string, disks: readonly string[]): Promise<NodeObject> {
  const node = nodes.get(nodeId);
  const { entry } = node;
  const { converted } = kindOf(entry.node_type);
  const machine = Object.values(kinds).find((kind) => kind.machines !== undefined);
  if (!converted || !machine?.machines) throw fault('node_not_convertible', { name: entry.name, node_type: entry.node_type });
  const { transport } = node.requireCompute();
  const images: Record<string, string> = {};
  for (const [index, source] of disks.entries()) {
    const { filename } = await transport.call('POST /v2/compute/qemu/convert', { body: { source }, timeoutMs: convertTimeoutMs });
    images[machine.machines.disks[index] as string] = filename;
  }
  const body: NodeCreate = {
    name: entry.name,
    node_type: machine.type,
    compute_id: entry.compute_id,
    x: entry.x + besidePx,
    y: entry.y + besidePx,
    symbol: entry.symbol,
    custom_adapters: entry.custom_adapters,
    properties: { ...converted(entry.properties), ...images },
  };
  return nodes.create(body);
}
