/** The table of port types. */
import type { Pcs } from '../pcs/pcs.ts';
import type { FabricPort, PortOwner } from '../ports/port.ts';
import { openDatagrams } from '../ports/port-datagrams.ts';
import { type InterfaceMemory, openPacket, openTap } from '../ports/port-interface.ts';
import { openPeer } from '../ports/port-peer.ts';
import { openStream } from '../ports/port-stream.ts';
import { openUdp } from '../ports/port-udp.ts';
import type { PortSpec } from '../protocol.ts';
import { openSwitchPort } from '../switches/port-switch.ts';
import type { Switches } from '../switches/switches.ts';

/** Parts of the process that ports need. */
export interface PortTools {
  readonly switches: Switches;
  readonly pcs: Pcs;
  readonly taps: InterfaceMemory;
}
type Openers = {
  [T in PortSpec['type']]: (spec: Extract<PortSpec, { type: T }>, owner: PortOwner, tools: PortTools) => FabricPort;
};
const openers: Openers = {
  stream: (spec, owner, { taps }) => openStream(spec, owner, taps.native),
  udp: (spec, owner, { taps }) =>
    spec.stream ? openPeer({ ...spec, stream: spec.stream }, owner, taps.native) : openUdp(spec, owner, taps.native),
  datagrams: (spec, owner, { taps }) => openDatagrams(spec, owner, taps),
  tap: (spec, owner, { taps }) => openTap(spec, owner, taps),
  packet: ({ interface: name }, owner, { taps }) => openPacket(name, owner, taps),
  switch: (spec, owner, { switches }) => openSwitchPort(spec, owner, switches),
  pc: ({ pc }, owner, { pcs }) => pcs.plug(pc, owner),
};

export function openPort(spec: PortSpec, owner: PortOwner, tools: PortTools): FabricPort {
  const open = openers[spec.type] as (spec: PortSpec, owner: PortOwner, tools: PortTools) => FabricPort;
  return open(spec, owner, tools);
}
