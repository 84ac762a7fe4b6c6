/** Network adapters of a machine as arguments, spread over PCI bridges when there are more than a bus has slots. */

import { fault } from '../../api/faults.ts';
import type { PortSpec } from '../../fabric/protocol.ts';
import type { CustomAdapters } from '../../schema/node.ts';
import { macPlus } from '../facts/mac-address.ts';
import { hasFeature } from './features.ts';
import { escapeCommas } from './options.ts';
import type { Version } from './version.ts';

/** QEMU is a process: it has one of these, and is the other side of it. */
export type AdapterPort = Extract<PortSpec, { type: 'stream' | 'udp' | 'tap' }>;

export interface Adapter {
  readonly type: string;
  readonly mac: string;
  /** Where the fabric connects to. */
  readonly port: AdapterPort;
  /** The offload mode of an adapter on a TAP interface; undefined for other adapters. */
  readonly offload?: Offload | undefined;
}

/**
 * Whether a machine and the kernel exchange large segments with incomplete checksums, and `vhost`, whether the kernel moves them. The memory of
 * a machine with offloads continues on such interfaces only.
 */
export type Offload = 'off' | 'on' | 'vhost';

/** Models whose driver in the guest knows of offloads of the interface behind them: those of the others are QEMU's own matter. */
export const isVirtio = (type: string) => /^virtio/.test(type);

/** Types and addresses of all adapters; a custom adapter's own win. */
export function adapterFacts(
  count: number,
  defaults: { type: string; mac: string },
  custom: CustomAdapters,
): { type: string; mac: string }[] {
  return Array.from({ length: count }, (_, index) => {
    const own = custom.find((entry) => entry.adapter_number === index);
    return {
      type: own?.adapter_type ?? defaults.type,
      mac: own?.mac_address?.toLowerCase() ?? macPlus(defaults.mac, index),
    };
  });
}

/** Name of an adapter's network backend; `set_link` refers to it. GNS3's name, which scripts may know. */
export const netdevId = (index: number) => `gns3-${index}`;

/**
 * Names of the machine's cards by their network backends, from what `info network` prints. `set_link` of a backend would let a stream that
 * has no other end send: QEMU 7.2 ends by a segmentation fault then.
 */
export function cardNames(infoNetwork: string): Map<string, string> {
  const pairs = infoNetwork.matchAll(/^(\S+): [^\n]*type=nic[^\n]*\n \\ (\S+): /gm);
  return new Map(Array.from(pairs, ([, card = '', backend = '']) => [backend, card]));
}

export function adapterArguments(adapters: readonly Adapter[], pciDrives: number, version: Version, legacy: boolean): string[] {
  // QEMU without this option adds a network card of its own.
  const args = ['-net', 'none'];
  if (legacy) return [...args, ...adapters.flatMap(legacyArguments)];
  const slots = pciSlots(adapters.length, pciDrives);
  if (slots.bridges > 0 && !hasFeature(version, 'pciBridges')) {
    throw fault('qemu_failed', { reason: `${adapters.length} adapters need PCI bridges, and those need QEMU 2.4 or later` });
  }
  const bridged = new Set<number>();
  for (const [index, adapter] of adapters.entries()) {
    const slot = slots.first + index;
    const bridge = Math.floor(slot / slotsPerBus);
    if (bridge > 0 && !bridged.has(bridge)) {
      bridged.add(bridge);
      args.push('-device', `i82801b11-bridge,id=dmi_pci_bridge${bridge}`);
      args.push(
        '-device',
        `pci-bridge,id=pci-bridge${bridge},bus=dmi_pci_bridge${bridge},chassis_nr=0x1,addr=0x${bridge},shpc=off`,
      );
    }
    const place = bridge === 0 ? '' : `,bus=pci-bridge${bridge},addr=0x${(slot % slotsPerBus).toString(16).padStart(2, '0')}`;
    // "virtio" is the name of the model in the old -net syntax.
    const type = adapter.type === 'virtio' ? 'virtio-net-pci' : adapter.type;
    const speed = type === 'virtio-net-pci' && hasFeature(version, 'linkSpeed') ? ',speed=10000,duplex=full' : '';
    args.push('-device', `${escapeCommas(type)},mac=${adapter.mac}${speed}${place},netdev=${netdevId(index)}`);
    args.push('-netdev', backend(index, adapter));
  }
  return args;
}

const slotsPerBus = 32;
/** Slots of the root bus taken by what every machine has: host bridge, ISA and IDE, VGA, one to spare. GNS3's count. */
const builtinSlots = 4;

function pciSlots(adapters: number, pciDrives: number): { bridges: number; first: number } {
  const bridges = Math.floor((builtinSlots + pciDrives + adapters) / slotsPerBus);
  return { bridges, first: builtinSlots + bridges + pciDrives };
}

/**
 * QEMU listens on the stream's socket; of a pair of datagram ports it has the one that the fabric sends to, and of a pair of TAP interfaces the
 * one that the fabric does not hold.
 */
function backend(index: number, { port, offload = 'off' }: Adapter): string {
  if (port.type === 'tap') {
    const words = { off: ',vnet_hdr=off', on: '', vhost: ',vhost=on' }[offload];
    return `tap,id=${netdevId(index)},ifname=${port.hostEnd},script=no,downscript=no${words}`;
  }
  if (port.type === 'stream') return `stream,id=${netdevId(index)},server=on,addr.type=unix,addr.path=${escapeCommas(port.path)}`;
  return `socket,id=${netdevId(index)},udp=127.0.0.1:${port.lport},localaddr=127.0.0.1:${port.rport}`;
}

function legacyArguments({ type, mac, port }: Adapter, index: number): string[] {
  if (port.type !== 'udp') throw fault('qemu_failed', { reason: 'The -net syntax only knows datagrams' });
  return [
    '-net',
    `nic,vlan=${index},macaddr=${mac},model=${escapeCommas(type)}`,
    '-net',
    `socket,vlan=${index},name=${netdevId(index)},udp=127.0.0.1:${port.lport},localaddr=127.0.0.1:${port.rport}`,
  ];
}
