/** Nodes of 1.x files. The kinds are named because each was written differently; nothing else may do so. Source: as `from-1x.ts`. */
import { isIPv6 } from 'node:net';
import { labelStyle } from './drawings-1x.ts';
import { integerOr, object, objects, type Raw, textOr } from './raw.ts';

interface PortPlace {
  readonly adapter_number: number;
  readonly port_number: number;
}
export interface OldNode {
  readonly oldId: unknown;
  readonly node: Raw & { readonly node_id: string };
  /** Old id of a port to its place. */
  readonly ports: ReadonlyMap<unknown, PortPlace>;
}

/** Current equivalent of a node type of 1.x. */
interface Type {
  readonly node_type: string;
  readonly symbol?: string;
  readonly hasNoConsole?: boolean;
  /** Ports counted from 1, and now from 0. */
  readonly countsFromOne?: boolean;
  readonly properties?: (old: Raw, properties: Raw) => Raw;
  readonly defaults?: Raw;
}

const linkedClone = (old: Raw, properties: Raw): Raw => ({ ...properties, linked_clone: old.linked_clone === true });
const hubPorts = (old: Raw): Raw[] =>
  objects(old.ports).map((port) => {
    const number = integerOr(port.port_number, 1) - 1;
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
    properties: (old, properties) => ({ ...properties, ports_mapping: hubPorts(old) }),
  },
  EthernetSwitch: {
    node_type: 'ethernet_switch',
    symbol: ':/symbols/ethernet_switch.svg',
    hasNoConsole: true,
    countsFromOne: true,
    properties: (old, properties) => {
      const ports = objects(old.ports);
      const mapped = hubPorts(old).map((port, index) => ({
        ...port,
        type: textOr(ports[index]?.type, 'access'),
        vlan: integerOr(ports[index]?.vlan, 1),
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
/** Memory of routers for which the file names none. MiB. */
const routerRam: Readonly<Record<string, number>> = {
  c1700: 160,
  c2600: 160,
  c2691: 192,
  c3600: 192,
  c3725: 128,
  c3745: 256,
  c7200: 512,
};
const routers = ['C1700', 'C2600', 'C2691', 'C3600', 'C3620', 'C3640', 'C3660', 'C3725', 'C3745', 'C7200'];
/** MD5 sum of the machine that once stood for the internet. */
const internetSum = '8ebc5a6ec53a1c05b7aa101b5ceefe31';

/** @throws Error whose message names what cannot be read */
export function convertNode(old: Raw, identity: { node_id: string; compute_id: string }): OldNode {
  const { console, name, console_type, console_host: _host, use_ubridge: _bridge, ...properties } = object(old.properties);
  const title = textOr(old.type, textOr(properties.platform, '').toUpperCase());
  const type = typeOf(title, properties);
  const label = object(old.label);
  const ports = new Map(objects(old.ports).map((port) => [port.id, placeOf(port, type)]));
  const shownName = textOr(label.text, textOr(name, title));
  const node: OldNode['node'] = {
    ...identity,
    node_type: type.node_type,
    name: shownName,
    label: {
      text: shownName,
      rotation: 0,
      style: labelStyle(label),
      x: integerOr(label.x, 0),
      y: integerOr(label.y, -25),
    },
    console: type.hasNoConsole || typeof console !== 'number' ? null : console,
    console_type: type.hasNoConsole ? null : textOr(console_type, 'telnet'),
    symbol: symbolOf(old, type),
    x: integerOr(old.x, 0),
    y: integerOr(old.y, 0),
    z: integerOr(old.z, 1),
    port_name_format: textOr(old.port_name_format, textOr(type.defaults?.port_name_format, 'Ethernet{0}')),
    port_segment_size: integerOr(old.port_segment_size, integerOr(type.defaults?.port_segment_size, 0)),
    first_port_name: textOr(old.first_port_name, null),
    properties: type.properties ? type.properties(old, properties) : properties,
  };
  return type.node_type === 'cloud' ? asCloud({ oldId: old.id, node, ports }, old) : { oldId: old.id, node, ports };
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
      const id = old.dynamips_id ?? given.dynamips_id;
      return { ...given, platform, ram: given.ram ?? routerRam[platform] ?? 256, ...(id !== undefined && { dynamips_id: id }) };
    },
  };
}

function placeOf(port: Raw, { countsFromOne }: Type): PortPlace {
  const number = integerOr(port.port_number, countsFromOne ? 1 : 0);
  return { adapter_number: integerOr(port.adapter_number, 0), port_number: countsFromOne ? number - 1 : number };
}

/** `…normal.svg` and `…selected.svg` were two pictures of one symbol. */
function symbolOf(old: Raw, type: Type): string {
  const fallback = type.symbol ?? ':/symbols/computer.svg';
  return textOr(old.symbol, textOr(old.default_symbol, fallback).replace(/\.normal\.svg$/, '.svg'));
}

/**
 * Converts a cloud of 1.x, whose ports were named after their NIOs. @throws Error for an unknown kind of NIO, or a UDP tunnel that
 * is not over IPv4
 */
function asCloud({ oldId, node }: OldNode, old: Raw): OldNode {
  const { nios: _nios, ...properties } = object(node.properties);
  const mapped: Raw[] = [];
  const places = new Map<unknown, PortPlace>();
  let tunnels = 0;
  for (const port of objects(old.ports)) {
    const name = textOr(port.name, '');
    const [kind = '', ...rest] = name.split(':');
    const port_number = mapped.length + 1;
    if (kind === 'nio_nat') continue;
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
    places.set(port.id, { adapter_number: 0, port_number });
  }
  return { oldId, node: { ...node, properties: { ...properties, interfaces: [], ports_mapping: mapped } }, ports: places };
}
