/** On which compute the nodes of an imported project go. Source: GNS3's rules for imports. */
import type { RegisteredCompute } from '../computes/compute.ts';
import { localComputeId } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { findKind } from '../model/node.ts';
import type { NodeEntry } from '../model/topology.ts';

/** A compute with this id is the virtual machine that runs what needs a kernel of its own. */
const vmComputeId = 'vm';

/**
 * Nodes of a compute that is registered here stay on it. The others, and those of `local`, take turns on the computes that are
 * connected and know their kind; with a compute `vm`, some kinds go there and the rest stays local.
 */
export function spreadNodes(nodes: readonly NodeEntry[], computes: Computes): NodeEntry[] {
  const connected = [...computes.all()].filter((compute) => compute.transport.state.connected);
  const vm = connected.find((compute) => compute.id === vmComputeId);
  let turn = 0;
  return nodes.map((node) => {
    if (node.compute_id !== localComputeId && computes.find(node.compute_id)) return node;
    if (vm) return { ...node, compute_id: findKind(node.node_type)?.needsVmCompute ? vm.id : localComputeId };
    const able = connected.filter((compute) => canRun(compute, node));
    const compute = able[turn % Math.max(able.length, 1)];
    if (able.length > 1) turn += 1;
    return { ...node, compute_id: compute?.id ?? localComputeId };
  });
}

function canRun({ isLocal, transport }: RegisteredCompute, { node_type }: NodeEntry): boolean {
  if (isLocal) return findKind(node_type) !== undefined;
  return transport.state.capabilities.node_types.includes(node_type);
}
