/** A machine of a kind that does not run here becomes one of a kind that does: disks, network adapters and memory. */
import { fault } from '../../../api/faults.ts';
import { kinds } from '../../../emulators/kinds.ts';
import type { NodeCreate } from '../../../schema/node.ts';
import { kindOf, type NodeObject } from '../../model/node.ts';
import type { NodeEntry } from '../../model/topology.ts';
import type { ProjectNodes } from './project-nodes.ts';

/** Beside the node, so that both are seen: pixels. */
const besidePx = 80;
/** As long as the compute's own limit. */
const convertTimeoutMs = 6 * 3600_000;

/**
 * Converts disks of the compute's image folder. Can take hours: nothing of the project waits for it. @returns the names of the new images
 * @throws node_not_convertible, and why the compute refuses a disk
 */
export async function convertDisks(nodes: ProjectNodes, nodeId: string, disks: readonly string[]): Promise<string[]> {
  const node = nodes.get(nodeId);
  factsFor(node.entry);
  const { transport } = node.requireCompute();
  const images: string[] = [];
  try {
    for (const source of disks) {
      const { filename } = await transport.call('POST /v2/compute/qemu/convert', { body: { source }, timeoutMs: convertTimeoutMs });
      images.push(filename);
    }
  } catch (error) {
    await removeDisks(nodes, nodeId, images);
    throw error;
  }
  return images;
}

/** Those that were made for a node that did not come to be: the next request would find them in its way. Never rejects. */
export async function removeDisks(nodes: ProjectNodes, nodeId: string, images: readonly string[]): Promise<void> {
  try {
    const node = nodes.get(nodeId);
    const { machine } = factsFor(node.entry);
    const { transport } = node.requireCompute();
    for (const image of images) await transport.raw('DELETE', `/v2/compute/${machine.type}/images/${encodeURIComponent(image)}`);
  } catch {
    // The node, or its compute, is gone: its images stay, and can be deleted like others.
  }
}

/**
 * Makes a node with these disks beside the old one, which stays with its links.
 * @throws node_not_convertible, and why the compute refuses the node
 */
export async function convertNode(nodes: ProjectNodes, nodeId: string, disks: readonly string[]): Promise<NodeObject> {
  const { entry } = nodes.get(nodeId);
  const { machine, slots, converted } = factsFor(entry);
  const images = Object.fromEntries(disks.map((image, index) => [slots[index] as string, image]));
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

/** @throws node_not_convertible */
function factsFor({ name, node_type }: NodeEntry) {
  const { converted } = kindOf(node_type);
  const machine = Object.values(kinds).find((kind) => kind.machines !== undefined);
  if (!converted || !machine?.machines) throw fault('node_not_convertible', { name, node_type });
  return { machine, slots: machine.machines.disks, converted };
}
