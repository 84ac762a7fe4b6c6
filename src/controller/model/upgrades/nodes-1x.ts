/** Nodes of 1.x files. The kinds are named because each was written differently; nothing else may do so. Source: as `from-1x.ts`. */
import { isIPv6 } from 'node:net';
import type { ForeignMap } from '../../../schema/foreign-map.ts';
import { labelKeys, type nodeKeys, portKeys, propertyKeys } from '../../../schema/project-1x.ts';
import { findRouterHardware } from '../../../schema/router-hardware.ts';
import { labelStyle } from './drawings-1x.ts';
import { integerOr, object, type Raw, textOr } from './raw.ts';

export type OldNodeMap = ForeignMap<keyof typeof nodeKeys>;
type OldPortMap = ForeignMap<keyof typeof portKeys>;

interface PortPlace {
  readonly adapter_number: number;
  readonly port_number: number;
}
export interface OldNode {
  readonly oldId: unknown;
  readonly node: Raw & { readonly node_id: string };
  /** Old id of a port to its place. */
  readonly ports: ReadonlyMap<unknown, PortPlace>;
  /** Parts of it without a counterpart, beside unread keys. */
  readonly lost: readonly string[];
}

/** Current equivalent of a node type of 1.x. */
interface Type {
  readonly node_type: string;
  readonly symbol?: string;
  readonly hasNoConsole?: boolean;
  /** Ports counted from 1, and now from 0. */
  readonly countsFromOne?: boolean;
  readonly properties?: (old: OldNodeMap, properties: Raw, ports: readonly OldPortMap[]) => Raw;
  readonly defaults?: Raw;
}

const linkedClone = (old: OldNodeMap, properties: Raw): Raw => ({
  ...properties,
  linked_clone: old.raw('linked_clone') === true,
});
const hubPorts = (ports: readonly OldPortMap[]): Raw[] =>
  ports.map((port) => {
    const number = integerOr(port.raw('port_number'), 1) - 1;
    return { name: `Ethernet${number}`, port_number: number };
  });
const types: Readonly<Record<string, Type>> = {
  VPCSDevice: { node_type: 'vpcs' },
  QemuVM: { node_type: 'qemu', symbol: ':/symbols/qemu_guest.svg' },
  DockerVM: { node_type: 'docker', symbol: ':/symbols/docker_guest.svg' },
  ATMSwitch: { node_type: 'atm_switch', symbol: ':/symbols/atm_switch.svg', hasNoConsole: true },
  FrameRelaySwitch: { node_type: 'frame_relay_switch', symbol: ':/symbols/frame_relay_switch.svg', hasNoConsole: true },
  EthernetHub: {
    node_type: 'ethernet_hub',
    symbol: ':/symbols/hub.svg',
    hasNoConsole: true,
    countsFromOne: true,
    properties: (_old, properties, ports) => ({ ...properties, ports_mapping: hubPorts(ports) }),
  },
  EthernetSwitch: {
    node_type: 'ethernet_switch',
    symbol: ':/symbols/ethernet_switch.svg',
    hasNoConsole: true,
    countsFromOne: true,
    properties: (_old, properties, ports) => {
      const mapped = hubPorts(ports).map((port, index) => ({
        ...port,
        type: textOr(ports[index]?.raw('type'), 'access'),
        vlan: integerOr(ports[index]?.raw('vlan'), 1),
      }));
      return { ...properties, ports_mapping: mapped };
    },
  },
  VMwareVM: { node_type: 'vmware', symbol: ':/symbols/vmware_guest.svg', properties: linkedClone },
  VirtualBoxVM: { node_type: 'virtualbox', symbol: ':/symbols/vbox_guest.svg', properties: linkedClone },
  IOUDevice: {
    node_type: 'iou',
    symbol: ':/symbols/router.svg',
    defaults: { port_name_format: 'Ethernet{segment0}/{port0}', port_segment_size: 4 },
  },
  Cloud: { node_type: 'cloud', symbol: ':/symbols/cloud.svg', hasNoConsole: true },
  Host: { node_type: 'cloud', symbol: ':/symbols/computer.svg', hasNoConsole: true },
};
const routers = ['C1700', 'C2600', 'C2691', 'C3600', 'C3620', 'C3640', 'C3660', 'C3725', 'C3745', 'C7200'];
/** MD5 sum of the machine that once stood for the internet. */
const internetSum = '8ebc5a6ec53a1c05b7aa101b5ceefe31';

/** @throws Error whose message names what cannot be read */
export function convertNode(old: OldNodeMap, identity: { node_id: string; compute_id: string }): OldNode {
  // The kind knows its own properties: only the keys of the node among them are counted.
  const given = old.map('properties', propertyKeys);
  const [console, name, consoleType] = [given.raw('console'), given.raw('name'), given.raw('console_type')];
  const properties = Object.fromEntries(
    Object.entries(object(old.peek('properties'))).filter(([key]) => !Object.hasOwn(propertyKeys, key)),
  );
  given.takeAll();
  const title = textOr(old.raw('type'), textOr(properties.platform, '').toUpperCase());
  const type = typeOf(title, properties);
  const label = old.map('label', labelKeys);
  const listed = old.maps('ports', portKeys);
  const ports = new Map(listed.map((port) => [port.raw('id'), placeOf(port, type)]));
  // The names of ports follow from the node, save those of clouds.
  for (const port of listed) port.raw('name');
  const shownName = textOr(label.raw('text'), textOr(name, title));
  const node: OldNode['node'] = {
    ...identity,
    node_type: type.node_type,
    name: shownName,
    label: {
      text: shownName,
      rotation: integerOr(label.raw('rotation'), 0),
      style: labelStyle(label.raw('font'), label.raw('color')),
      x: integerOr(label.raw('x'), 0),
      y: integerOr(label.raw('y'), -25),
    },
    console: type.hasNoConsole || typeof console !== 'number' ? null : console,
    console_type: type.hasNoConsole ? null : textOr(consoleType, 'telnet'),
    symbol: symbolOf(old, type),
    x: integerOr(old.raw('x'), 0),
    y: integerOr(old.raw('y'), 0),
    z: integerOr(old.raw('z'), 1),
    port_name_format: textOr(old.raw('port_name_format'), textOr(type.defaults?.port_name_format, 'Ethernet{0}')),
    port_segment_size: integerOr(old.raw('port_segment_size'), integerOr(type.defaults?.port_segment_size, 0)),
    first_port_name: textOr(old.raw('first_port_name'), null),
    properties: type.properties ? type.properties(old, properties, listed) : properties,
  };
  const converted = { oldId: old.raw('id'), node, ports, lost: [] };
  return type.node_type === 'cloud' ? asCloud(converted, listed) : converted;
}

function typeOf(title: string, properties: Raw): Type {
  if (title === 'QemuVM' && properties.hda_disk_image_md5sum === internetSum) {
    const ports = [{ interface: 'eth1', name: 'nat0', port_number: 0, type: 'ethernet' }];
    return { node_type: 'nat', symbol: ':/symbols/cloud.svg', hasNoConsole: true, properties: () => ({ ports_mapping: ports }) };
  }
  const type = Object.hasOwn(types, title) ? types[title] : undefined;
  if (type) return type;
  if (!routers.includes(title)) throw new Error(`the type "${title}" of a node is not known`);
  const guessed = title.startsWith('C36') ? 'c3600' : title.toLowerCase();
  return {
    node_type: 'dynamips',
    symbol: ':/symbols/router.svg',
    properties: (old, given) => {
      const platform = textOr(given.platform, guessed);
      const id = old.raw('dynamips_id') ?? given.dynamips_id;
      const ram = given.ram ?? findRouterHardware(platform)?.memory ?? 256;
      return { ...given, platform, ram, ...(id !== undefined && { dynamips_id: id }) };
    },
  };
}

function placeOf(port: OldPortMap, { countsFromOne }: Type): PortPlace {
  const number = integerOr(port.raw('port_number'), countsFromOne ? 1 : 0);
  const adapter_number = integerOr(port.raw('adapter_number'), integerOr(port.raw('slot_number'), 0));
  return { adapter_number, port_number: countsFromOne ? number - 1 : number };
}

/** `…normal.svg` and `…selected.svg` were two pictures of one symbol. */
function symbolOf(old: OldNodeMap, type: Type): string {
  const fallback = type.symbol ?? ':/symbols/computer.svg';
  return textOr(old.raw('symbol'), textOr(old.raw('default_symbol'), fallback).replace(/\.normal\.svg$/, '.svg'));
}

/**
 * Converts a cloud of 1.x, whose ports were named after their NIOs. @throws Error for an unknown kind of NIO, or a UDP tunnel that
 * is not over IPv4
 */
function asCloud({ oldId, node }: OldNode, ports: readonly OldPortMap[]): OldNode {
  const { nios: _nios, ...properties } = object(node.properties);
  const lost: string[] = [];
  const mapped: Raw[] = [];
  const places = new Map<unknown, PortPlace>();
  let tunnels = 0;
  for (const port of ports) {
    const name = textOr(port.raw('name'), '');
    const [kind = '', ...rest] = name.split(':');
    const port_number = mapped.length + 1;
    if (kind === 'nio_nat') {
      lost.push(`the port ${name}: add a NAT node`);
      continue;
    }
    if (kind === 'nio_gen_eth' || kind === 'nio_gen_linux' || kind === 'nio_tap') {
      const interfaceName = rest.join(':');
      mapped.push({ interface: interfaceName, name: interfaceName, port_number, type: kind === 'nio_tap' ? 'tap' : 'ethernet' });
    } else if (kind === 'nio_udp') {
      const [lport, rport] = [Number(rest[0]), Number(rest.at(-1))];
      const rhost = rest.slice(1, -1).join(':');
      if (isIPv6(rhost) || rest.length !== 3) throw new Error(`the port "${name}" of a cloud is no tunnel over IPv4`);
      tunnels += 1;
      mapped.push({ name: `UDP tunnel ${tunnels}`, port_number, type: 'udp', lport, rhost, rport });
    } else throw new Error(`the port "${name}" of a cloud is of no known kind`);
    places.set(port.raw('id'), { adapter_number: 0, port_number });
  }
  return { oldId, node: { ...node, properties: { ...properties, interfaces: [], ports_mapping: mapped } }, ports: places, lost };
}
