/** Requests to a node's compute about the NIOs of its ports. They reject with `compute_not_found` while it is not registered. */
import type { Nio, NioUdp } from '../../../schema/nio.ts';
import type { NodePort, OpenNode } from './open-node.ts';

/** Binds a port in place of the NIO that it has. */
export async function bindNio(node: OpenNode, end: NodePort, nio: Nio): Promise<void> {
  await node.transport.send(`POST ${node.portRoute}/nio`, { ...node.portRequest(end), body: nio });
}

/** Changes what a NIO does with frames; its addresses stay. */
export async function changeNio(node: OpenNode, end: NodePort, nio: Nio): Promise<void> {
  await node.transport.send(`PUT ${node.portRoute}/nio`, { ...node.portRequest(end), body: nio });
}

export async function unbindNio(node: OpenNode, end: NodePort): Promise<void> {
  await node.transport.send(`DELETE ${node.portRoute}/nio`, node.portRequest(end));
}

const movedPorts = '/v2/compute/projects/{project_id}/moved_ports';

/** Moves a port whose peer is paused. @returns how many frames wait in the link, until `releasePort` */
export async function movePort(node: OpenNode, { adapter, port }: NodePort, nio: NioUdp): Promise<number> {
  const body = { node_id: node.id, adapter_number: adapter, port_number: port, nio };
  return (await node.transport.call(`POST ${movedPorts}`, { path: { project_id: node.projectId }, body })).held;
}

export async function releasePort(node: OpenNode, { adapter, port }: NodePort): Promise<void> {
  const body = { node_id: node.id, adapter_number: adapter, port_number: port };
  await node.transport.send(`POST ${movedPorts}/release`, { path: { project_id: node.projectId }, body });
}
