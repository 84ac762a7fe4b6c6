/**
 * Decides which ports the links of a lab use, and which links of the project they are. Ports that the file names come first. A link
 * with an open port is an existing link of the same two nodes if there is one; otherwise it takes the first free port. So a file
 * that is applied again finds its links, and a new link takes no port from another.
 */
import type { Link, LinkMirror } from '../../src/schema/link.ts';
import type { Node, Port } from '../../src/schema/node.ts';
import type { LabEnd, LabLink } from '../file/lab.ts';
import { LabError, suggestion } from '../file/lab-error.ts';
import type { PortRef } from './lab-plan.ts';
import { isPort } from './port-list.ts';

export interface PortsOfNode {
  readonly node: Node;
  /** Whether the plan changes the node's ports: a missing port may exist afterwards. */
  readonly changes: boolean;
}

export interface AssignedLink {
  readonly link: LabLink;
  /** Ports of the ends; undefined where the node's ports are not known yet. */
  readonly ports: readonly [PortRef | undefined, PortRef | undefined];
  /** Port of the mirror; undefined where unknown, or without a mirror. */
  readonly mirrorPort: PortRef | undefined;
  /** The link of the project that matches. */
  readonly present: Link | undefined;
}

/** Links of the project that may stay, and mirrors by link id. */
interface PresentLinks {
  readonly links: readonly Link[];
  readonly mirrors: ReadonlyMap<string, LinkMirror>;
}

/** Assigns the ports. `nodes`: by name; new ones are missing. @throws LabError */
export function assignPorts(
  links: readonly LabLink[],
  present: PresentLinks,
  nodes: ReadonlyMap<string, PortsOfNode>,
): AssignedLink[] {
  const named = links.map((link) => bothEnds(link, (end) => namedPort(end, link, nodes)));
  const namedMirrors = links.map((link) => link.mirror && namedPort(link.mirror, link, nodes));
  const taken = takenPorts(links, named, namedMirrors);
  const unmatched = new Map(present.links.map((link) => [link.link_id, link]));
  const found = matchLinks(links, named, { unmatched, taken, nodes });
  const mirrorPorts = links.map((link, index) => {
    const mirror = present.mirrors.get(found[index]?.present.link_id ?? '');
    return namedMirrors[index] ?? keptMirror(link, mirror, { taken, nodes });
  });
  const assigned = links.map((link, index) => {
    const ports = bothEnds(link, (end, side) => {
      const port = found[index]?.ports[side] ?? named[index]?.[side];
      if (port || end.port !== undefined) return port;
      return freePort(end, link, { taken, nodes });
    });
    return { link, ports, mirrorPort: mirrorPorts[index], present: found[index]?.present };
  });
  return assigned.map((each) => {
    const { link, mirrorPort } = each;
    if (mirrorPort || !link.mirror || link.mirror.port !== undefined) return each;
    return { ...each, mirrorPort: freePort(link.mirror, link, { taken, nodes }) };
  });
}

/** Returns the present mirror's port where the file leaves the port open. */
function keptMirror(
  { mirror: wanted }: LabLink,
  present: LinkMirror | undefined,
  { taken, nodes }: { readonly taken: TakenPorts; readonly nodes: NodesByName },
): PortRef | undefined {
  const node = wanted && nodes.get(wanted.node)?.node;
  if (!wanted || wanted.port !== undefined || !present || node?.node_id !== present.node_id) return undefined;
  const port = node.ports.find((one) => one.adapter_number === present.adapter_number && one.port_number === present.port_number);
  if (!port || taken.get(wanted.node)?.has(keyOf(refOf(port)))) return undefined;
  take(taken, wanted.node, refOf(port));
  return refOf(port);
}

type PortPair = readonly [PortRef | undefined, PortRef | undefined];
export function bothEnds<T>({ ends: [one, other] }: LabLink, fn: (end: LabEnd, side: 0 | 1) => T): readonly [T, T] {
  return [fn(one, 0), fn(other, 1)];
}

/** A port as the file names it. */
type PortOfLab = Omit<LabEnd, 'label'>;
type NodesByName = ReadonlyMap<string, PortsOfNode>;
/** Used ports (`adapter/port`) by node name. */
type TakenPorts = Map<string, Set<string>>;

function namedPort({ node, port }: PortOfLab, { place }: LabLink, nodes: NodesByName): PortRef | undefined {
  const known = nodes.get(node);
  if (port === undefined || !known) return undefined;
  const found = known.node.ports.find((one) => one.name === port) ?? known.node.ports.find((one) => isPort(one, port));
  if (found) return refOf(found);
  if (known.changes) return undefined;
  const names = known.node.ports.map(({ name }) => name);
  throw new LabError(`node ${node} has no port "${port}"${suggestion(port, names)}`, place);
}

/** Collects the named ports. @throws LabError when two links name the same port */
function takenPorts(links: readonly LabLink[], named: readonly PortPair[], mirrors: readonly (PortRef | undefined)[]): TakenPorts {
  const taken: TakenPorts = new Map();
  const seen = new Set<string>();
  links.forEach(({ ends, mirror, place }, index) => {
    const refs = [...(named[index] ?? []), mirrors[index]];
    [...ends, ...(mirror ? [mirror] : [])].forEach(({ node, port }, side) => {
      if (port === undefined) return;
      const ref = refs[side];
      const key = `${node}\n${ref ? keyOf(ref) : port}`;
      if (seen.has(key)) throw new LabError(`two links end at port ${port} of ${node}. Give each a port of its own`, place);
      seen.add(key);
      if (ref) take(taken, node, ref);
    });
  });
  return taken;
}

interface Matching {
  /** Present links by id; matched ones are removed. */
  readonly unmatched: Map<string, Link>;
  readonly taken: TakenPorts;
  readonly nodes: NodesByName;
}

/** Matches links with present ones. Links whose ports the file names completely choose first. */
function matchLinks(links: readonly LabLink[], named: readonly PortPair[], { unmatched, taken, nodes }: Matching) {
  const found: ({ present: Link; ports: PortPair } | undefined)[] = [];
  const byNodes = Map.groupBy(unmatched.values(), ({ nodes: [one, other] }) => pairKey(one?.node_id ?? '', other?.node_id ?? ''));
  const openEnds = ({ ends }: LabLink) => ends.filter(({ port }) => port === undefined).length;
  const order = links.map((_, index) => index).toSorted((a, b) => openEnds(links[a] as LabLink) - openEnds(links[b] as LabLink));
  for (const index of order) {
    const link = links[index] as LabLink;
    const both = link.ends.map(({ node }) => nodes.get(node)?.node);
    if (!both[0] || !both[1]) continue;
    for (const candidate of byNodes.get(pairKey(both[0].node_id, both[1].node_id)) ?? []) {
      const ports = unmatched.has(candidate.link_id) ? portsIn(candidate, both as [Node, Node]) : undefined;
      if (!ports || !fits(link, ports, named[index] as PortPair, taken)) continue;
      unmatched.delete(candidate.link_id);
      found[index] = { present: candidate, ports };
      for (const [side, { node }] of link.ends.entries()) take(taken, node, ports[side] as PortRef);
      break;
    }
  }
  return found;
}

/** Whether a present link is the one of the file: it has the named ports, and its other ports are not named by another link. */
function fits({ ends }: LabLink, ports: PortPair, named: PortPair, taken: TakenPorts): boolean {
  return ends.every(({ node, port }, side) => {
    const ref = ports[side];
    if (!ref) return false;
    if (port === undefined) return !taken.get(node)?.has(keyOf(ref));
    const wanted = named[side];
    return wanted !== undefined && keyOf(wanted) === keyOf(ref);
  });
}

function portsIn(link: Link, nodes: readonly [Node, Node]): PortPair {
  const [one, other] = nodes.map((node) => {
    const end = link.nodes.find(({ node_id }) => node_id === node.node_id);
    const port = node.ports.find((each) => each.adapter_number === end?.adapter_number && each.port_number === end.port_number);
    return port && refOf(port);
  });
  return [one, other];
}

function freePort(
  { node }: PortOfLab,
  { place }: LabLink,
  { taken, nodes }: { readonly taken: TakenPorts; readonly nodes: NodesByName },
): PortRef | undefined {
  const known = nodes.get(node);
  if (!known) return undefined;
  const free = known.node.ports.find((port) => !taken.get(node)?.has(keyOf(refOf(port))));
  if (free) {
    take(taken, node, refOf(free));
    return refOf(free);
  }
  if (known.changes) return undefined;
  throw new LabError(`all ${known.node.ports.length} ports of ${node} are taken. Give it more adapters or ports`, place);
}

function take(taken: TakenPorts, node: string, ref: PortRef): void {
  taken.set(node, (taken.get(node) ?? new Set()).add(keyOf(ref)));
}

function keyOf({ adapter, port }: PortRef): string {
  return `${adapter}/${port}`;
}

function refOf({ adapter_number: adapter, port_number: port, name }: Port): PortRef {
  return { adapter, port, name };
}

function pairKey(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}
