/** Converts the ports of switches and hubs in a lab file: a number of ports, and the VLANs of some. */
import type { KindFacts } from '../../src/schema/kind.ts';
import type { Port } from '../../src/schema/node.ts';
import type { LabNode } from '../file/lab.ts';
import { LabError } from '../file/lab-error.ts';

interface MappedPort {
  readonly name: string;
  readonly port_number: number;
  readonly type?: string;
  readonly vlan?: number;
  readonly ethertype?: string;
}

const standardPorts = 8;

/**
 * Returns the `ports_mapping` that a node needs; undefined when the present one can stay. `needed`: number of ports for the links
 * of the lab. `present`: that of the node in the project.
 */
export function portList(node: LabNode, facts: KindFacts, needed: number, present: unknown): readonly MappedPort[] | undefined {
  const list = facts.lab.port_list;
  const isOwn = (word: 'ports' | 'vlans') => !node.inherited.has(word) || (word === 'vlans' ? list === 'vlan' : list !== undefined);
  const ports = isOwn('ports') ? node.short.ports : undefined;
  const vlans = isOwn('vlans') ? node.short.vlans : undefined;
  if (list === undefined) {
    if (ports !== undefined || vlans !== undefined)
      throw new LabError(`${facts.title} nodes have no ports or vlans to give`, node.place);
    return undefined;
  }
  if (node.properties.ports_mapping !== undefined) return undefined;
  if (vlans !== undefined && list !== 'vlan') throw new LabError(`${facts.title} nodes have no VLANs`, node.place);
  const before = Array.isArray(present) ? (present as readonly MappedPort[]) : undefined;
  const byNumber = new Map(Object.entries(vlans ?? {}).map(([port, vlan]) => [portNumber(port, node), readVlan(vlan, node)]));
  const count = ports ?? Math.max(before?.length ?? standardPorts, needed, ...[...byNumber.keys()].map((number) => number + 1));
  for (const number of byNumber.keys()) {
    if (number >= count)
      throw new LabError(`${node.name} has ${count} ports, so there is no Ethernet${number}. Raise \`ports\``, node.place);
  }
  const keeps = (number: number) => vlans === undefined && before?.[number] !== undefined;
  const mapping = Array.from({ length: count }, (_, number): MappedPort => {
    const port = { name: `Ethernet${number}`, port_number: number };
    if (keeps(number)) return before?.[number] as MappedPort;
    return list === 'plain' ? port : { ...port, type: 'access', vlan: 1, ...byNumber.get(number) };
  });
  if (before === undefined) return ports === undefined && vlans === undefined && count === standardPorts ? undefined : mapping;
  return isSameMapping(before, mapping) ? undefined : mapping;
}

/** Returns the short form of a port list; undefined where it would lose something. */
export function shortPortList(present: unknown): { ports: number; vlans?: Record<string, number | string> } | undefined {
  if (!Array.isArray(present)) return undefined;
  const mapping = present as readonly MappedPort[];
  if (!mapping.every(({ name }, number) => name === `Ethernet${number}`)) return undefined;
  const vlans = mapping.flatMap(({ name, type, vlan = 1, ethertype }): [string, number | string][] => {
    if (type === undefined || (type === 'access' && vlan === 1)) return [];
    if (type === 'access') return [[name, vlan]];
    if (type === 'dot1q') return [[name, vlan === 1 ? 'trunk' : `trunk ${vlan}`]];
    return [[name, `qinq ${vlan}${ethertype ? ` ${ethertype}` : ''}`]];
  });
  return { ports: mapping.length, ...(vlans.length > 0 && { vlans: Object.fromEntries(vlans) }) };
}

function isSameMapping(one: readonly MappedPort[], other: readonly MappedPort[]): boolean {
  const text = ({ name, type = '', vlan = 1, ethertype = '' }: MappedPort) => `${name} ${type} ${vlan} ${ethertype}`;
  return one.length === other.length && one.every((port, number) => text(port) === text(other[number] as MappedPort));
}

function portNumber(name: string, node: LabNode): number {
  const [, number] = /^(?:Ethernet|eth|e)?(\d{1,4})$/.exec(name) ?? [];
  if (number === undefined)
    throw new LabError(`${node.name} has no port "${name}": its ports are Ethernet0, Ethernet1, …`, node.place);
  return Number(number);
}

function readVlan(vlan: number | string, node: LabNode): Omit<MappedPort, 'name' | 'port_number'> {
  if (typeof vlan === 'number') return { type: 'access', vlan };
  const [word, number = '1', ethertype] = vlan.split(' ');
  if (Number(number) < 1 || Number(number) > 4094)
    throw new LabError(`${node.name}: VLANs are 1 to 4094, not ${number}`, node.place);
  if (word === 'trunk') return { type: 'dot1q', vlan: Number(number) };
  return {
    type: 'qinq',
    vlan: Number(number),
    ...(ethertype && { ethertype: ethertype.replace(/[a-f]/g, (digit) => digit.toUpperCase()) }),
  };
}

/** Whether a text in a lab file names this port: by its name, short name, or `ADAPTER/PORT`. */
export function isPort(port: Port, name: string): boolean {
  return port.name === name || port.short_name === name || `${port.adapter_number}/${port.port_number}` === name;
}
