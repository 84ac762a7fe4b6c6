/** The table of port types. */
import type { FabricPort, PortOwner } from '../ports/port.ts';
import { openPeer } from '../ports/port-peer.ts';
import { openStream } from '../ports/port-stream.ts';
import { openUdp } from '../ports/port-udp.ts';
import type { PortSpec } from '../protocol.ts';
import { openSwitchPort } from '../switches/port-switch.ts';
import type { Switches } from '../switches/switches.ts';

type Openers = {
  [T in PortSpec['type']]: (spec: Extract<PortSpec, { type: T }>, owner: PortOwner, switches: Switches) => FabricPort;
};
const openers: Openers = {
  stream: openStream,
  udp: (spec, owner) => (spec.stream ? openPeer({ ...spec, stream: spec.stream }, owner) : openUdp(spec, owner)),
  switch: openSwitchPort,
};

export function openPort(spec: PortSpec, owner: PortOwner, switches: Switches): FabricPort {
  const open = openers[spec.type] as (spec: PortSpec, owner: PortOwner, switches: Switches) => FabricPort;
  return open(spec, owner, switches);
}
