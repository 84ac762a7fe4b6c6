/** The table of port types. */
import type { Port, PortOwner } from './port.ts';
import { openPeer } from './port-peer.ts';
import { openStream } from './port-stream.ts';
import { openSwitchPort } from './port-switch.ts';
import { openUdp } from './port-udp.ts';
import type { PortSpec } from './protocol.ts';
import type { Switches } from './switches.ts';

type Openers = { [T in PortSpec['type']]: (spec: Extract<PortSpec, { type: T }>, owner: PortOwner, switches: Switches) => Port };
const openers: Openers = {
  stream: openStream,
  udp: (spec, owner) => (spec.stream ? openPeer({ ...spec, stream: spec.stream }, owner) : openUdp(spec, owner)),
  switch: openSwitchPort,
};

export function openPort(spec: PortSpec, owner: PortOwner, switches: Switches): Port {
  const open = openers[spec.type] as (spec: PortSpec, owner: PortOwner, switches: Switches) => Port;
  return open(spec, owner, switches);
}
