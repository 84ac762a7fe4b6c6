/** The demo's project: VM1 — VM2 — PC1, two virtual machines and a VPCS, created through the HTTP API. */
import type { Api } from './api.ts';
import { type Guest, guestCommandLine, guestRamMiB } from './guest/guest.ts';

export interface Node {
  node_id: string;
  name: string;
  status: string;
  console: number;
}

export interface Link {
  link_id: string;
}

export interface Topology {
  projectId: string;
  /** Path of the project below `/v2`. */
  path: string;
  vm1: Node;
  vm2: Node;
  pc: Node;
  /** VM1 to VM2. */
  link: Link;
}

export const addresses = { vm1: '10.0.0.1', vm2: '10.0.0.2', vm2ToPc: '10.0.1.1', pc: '10.0.1.2' } as const;

/** Settings of a virtual machine with the guest; one address per adapter. */
export function machineProperties(guest: Guest, name: string, ips: readonly string[]): Record<string, unknown> {
  return {
    ram: guestRamMiB,
    adapters: ips.length,
    adapter_type: 'virtio-net-pci',
    process_priority: 'normal',
    kernel_image: guest.kernel,
    initrd: guest.initrd,
    kernel_command_line: guestCommandLine(name, ips),
  };
}

/** Addresses of the machines' adapters. */
export const machineAddresses = {
  VM1: [`${addresses.vm1}/24`],
  VM2: [`${addresses.vm2}/24`, `${addresses.vm2ToPc}/24`],
} as const;

export async function buildTopology(api: Api, guest: Guest): Promise<Topology> {
  const { project_id: projectId } = await api.post<{ project_id: string }>('/projects', { name: 'Demo', auto_close: false });
  const path = `/projects/${projectId}`;
  const vm = (name: keyof typeof machineAddresses, x: number) =>
    api.post<Node>(`${path}/nodes`, {
      name,
      node_type: 'qemu',
      compute_id: 'local',
      x,
      properties: machineProperties(guest, name, machineAddresses[name]),
    });
  const vm1 = await vm('VM1', -200);
  const vm2 = await vm('VM2', 0);
  const pc = await api.post<Node>(`${path}/nodes`, { name: 'PC1', node_type: 'vpcs', compute_id: 'local', x: 200 });
  const end = (node: Node, adapter: number) => ({ node_id: node.node_id, adapter_number: adapter, port_number: 0 });
  const link = await api.post<Link>(`${path}/links`, { nodes: [end(vm1, 0), end(vm2, 0)] });
  await api.post<Link>(`${path}/links`, { nodes: [end(vm2, 1), end(pc, 0)] });
  return { projectId, path, vm1, vm2, pc, link };
}
