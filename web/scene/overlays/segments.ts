/** The broadcast domains of a lab: which links share one, through switches with their VLANs and hubs. Pure, without the page. */

/** A port of a switch as its node has it. Ports of a hub have no VLAN. */
interface MappedPort {
  readonly port_number: number;
  readonly type?: string;
  readonly vlan?: number;
}

export interface SegmentNode {
  readonly id: string;
  /** Undefined: it separates domains, as hosts and routers do. */
  readonly ports: readonly MappedPort[] | undefined;
}

export interface SegmentLink {
  readonly id: string;
  readonly ends: readonly [SegmentEnd, SegmentEnd];
}

interface SegmentEnd {
  readonly node: string;
  readonly port: number;
}

export interface Segment {
  /** VLANs by which switches know it, in order. */
  readonly vlans: readonly number[];
  /** Links that carry it, trunks among them. */
  readonly links: readonly string[];
  /** Nodes that are no switches at these links. */
  readonly hosts: readonly string[];
}

/** VLAN of a hub's ports. */
const hubVlan = -1;

/** Reads the ports of a node's properties; undefined for nodes that are neither switch nor hub. */
export function portsOf(properties: Readonly<Record<string, unknown>>): readonly MappedPort[] | undefined {
  const ports = properties.ports_mapping;
  if (!Array.isArray(ports) || ports.length === 0) return undefined;
  // The ports of a cloud name interfaces of its host.
  const isSwitch = ports.every((port) => typeof port === 'object' && port !== null && !('interface' in port) && !('lport' in port));
  return isSwitch ? (ports as MappedPort[]) : undefined;
}

export function segmentsOf(nodes: readonly SegmentNode[], links: readonly SegmentLink[]): Segment[] {
  const ports = new Map(nodes.flatMap((node) => (node.ports ? [[node.id, node.ports] as const] : [])));
  const union = new Union();
  const vlansOf = new Map([...ports].map(([id, own]) => [id, [...new Set(own.map(vlanOf))]]));
  /** Domains of each link: key in the union, and whether frames of it have a tag there. */
  const carried = links.map(({ id, ends }) => {
    const [one, other] = ends.map(({ node, port }) => domainsAt(node, ports.get(node), port));
    if (one && other) joinAcross(union, one, other, vlansOf);
    return { id, ends, domains: [one, other].flatMap((at) => (at ? keysOf(at, vlansOf) : [])) };
  });
  const segments = new Map<string, { vlans: Set<number>; links: string[]; hosts: Set<string> }>();
  for (const { id, ends, domains } of carried) {
    const roots = new Set(domains.length > 0 ? domains.map((key) => union.rootOf(key)) : [union.rootOf(`link ${id}`)]);
    for (const root of roots) {
      const segment = segments.get(root) ?? { vlans: new Set(), links: [], hosts: new Set() };
      segments.set(root, segment);
      segment.links.push(id);
      if (roots.size === 1) for (const { node } of ends) if (!ports.has(node)) segment.hosts.add(node);
    }
  }
  for (const [node, vlans] of vlansOf)
    for (const vlan of vlans) if (vlan !== hubVlan) segments.get(union.rootOf(`${node} ${vlan}`))?.vlans.add(vlan);
  return [...segments.values()].map(({ vlans, links, hosts }) => ({
    vlans: [...vlans].sort((one, other) => one - other),
    links,
    hosts: [...hosts],
  }));
}

interface Domains {
  readonly node: string;
  readonly native: number;
  /** All VLANs pass, with a tag but for the native one. */
  readonly isTrunk: boolean;
}

const vlanOf = ({ vlan }: MappedPort) => vlan ?? hubVlan;

function domainsAt(node: string, ports: readonly MappedPort[] | undefined, number: number): Domains | undefined {
  const port = ports?.find(({ port_number }) => port_number === number);
  return port && { node, native: vlanOf(port), isTrunk: port.type === 'dot1q' };
}

function keysOf({ node, native, isTrunk }: Domains, vlansOf: ReadonlyMap<string, readonly number[]>): string[] {
  return (isTrunk ? (vlansOf.get(node) ?? []) : [native]).map((vlan) => `${node} ${vlan}`);
}

/** Untagged frames are of the native VLAN of each side; tagged ones keep theirs where both sides pass them. */
function joinAcross(union: Union, one: Domains, other: Domains, vlansOf: ReadonlyMap<string, readonly number[]>): void {
  union.join(`${one.node} ${one.native}`, `${other.node} ${other.native}`);
  if (!one.isTrunk || !other.isTrunk) return;
  const there = vlansOf.get(other.node) ?? [];
  for (const vlan of vlansOf.get(one.node) ?? [])
    if (vlan !== one.native && vlan !== other.native && there.includes(vlan))
      union.join(`${one.node} ${vlan}`, `${other.node} ${vlan}`);
}

/** Sets that are joined, each with a root. */
class Union {
  readonly #parents = new Map<string, string>();

  rootOf(key: string): string {
    let root = key;
    for (let parent = this.#parents.get(root); parent !== undefined && parent !== root; parent = this.#parents.get(root))
      root = parent;
    this.#parents.set(key, root);
    return root;
  }

  join(one: string, other: string): void {
    const [a, b] = [this.rootOf(one), this.rootOf(other)].sort();
    if (a !== undefined && b !== undefined) this.#parents.set(b, a);
  }
}

/** IPv4 subnets of addresses with prefixes: `10.0.0.0/24`. Those of other protocols and host routes are left out. */
export function subnetsOf(addresses: readonly string[]): string[] {
  return [...new Set(addresses.flatMap((address) => subnetOf(address) ?? []))].sort();
}

function subnetOf(address: string): string | undefined {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(address) ?? [];
  const [a = 0, b = 0, c = 0, d = 0, prefix = 32] = parts.map(Number);
  if (parts.length === 0 || prefix > 31) return undefined;
  const bits = ((a << 24) | (b << 16) | (c << 8) | d) & (prefix === 0 ? 0 : -1 << (32 - prefix));
  return `${[24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')}/${prefix}`;
}
