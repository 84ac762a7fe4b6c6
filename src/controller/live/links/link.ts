/** A link's data and rules: what may be joined, which end filters, what the two computes are sent. Nothing here does I/O. */
import { fault } from '../../../api/faults.ts';
import {
  beyondGns3,
  type FilterOffer,
  type Filters,
  gns3Offers,
  offeredFilters,
  reversed,
  textsFirst,
} from '../../../schema/filter.ts';
import type { Link, LinkEnd } from '../../../schema/link.ts';
import type { NioStream, NioUdp } from '../../../schema/nio.ts';
import type { Label, Port } from '../../../schema/node.ts';
import { outagesOf, reversedSchedule } from '../../../schema/schedule-rules.ts';
import type { UdpPorts } from '../../log/records.ts';
import { assemble, canonical } from '../../model/canonical.ts';
import { findKind } from '../../model/node.ts';
import { type LinkEntry, withoutExtras } from '../../model/topology.ts';
import type { OpenNode } from '../nodes/open-node.ts';

export type LinkObject = Readonly<Link>;
export type Two<T> = readonly [T, T];

/** Style of a label that the client did not give. Source: GNS3. */
const labelStyle = 'font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;';

/** @throws `link_ends` */
export function twoEnds(ends: readonly LinkEnd[] | undefined): Two<LinkEnd> {
  const [one, other, ...more] = ends ?? [];
  if (!one || !other || more.length > 0) throw fault('link_ends', { count: ends?.length ?? 0 });
  return [one, other];
}

/** Whether the two ports may be joined; returns them. @throws the refusal */
export function portsToJoin(ends: Two<LinkEnd>, nodes: Two<OpenNode>): Two<Port> {
  if (nodes[0] === nodes[1]) throw fault('link_itself', { name: nodes[0].entry.name });
  const ports = [portOf(ends[0], nodes[0]), portOf(ends[1], nodes[1])] as const;
  const [one, other] = ports;
  if (one.link_type !== other.link_type) throw fault('link_types_differ', { one: one.link_type, other: other.link_type });
  if (nodes.every((node) => findKind(node.entry.node_type)?.isUplink)) {
    throw fault('uplink_to_uplink', { one: nodes[0].entry.name, other: nodes[1].entry.name });
  }
  return ports;
}

function portOf(end: LinkEnd, node: OpenNode): Port {
  const port = node.findPort(end.adapter_number, end.port_number);
  if (port) return port;
  throw fault('port_not_found', { adapter_number: end.adapter_number, port_number: end.port_number, name: node.entry.name });
}

export function withLabel(end: LinkEnd): LinkEnd {
  const label: Label = { style: labelStyle, text: `${end.adapter_number}/${end.port_number}` };
  return { ...end, label: end.label ?? label };
}

/** The link as lists show it: every label has a style there. Elsewhere a label is as it was given. */
export function listed(link: LinkObject): LinkObject {
  const isWhole = ({ label }: LinkEnd) => label === undefined || typeof label.style === 'string';
  if (link.nodes.every(isWhole)) return link;
  const whole = (end: LinkEnd) => (end.label && !isWhole(end) ? { ...end, label: { ...end.label, style: labelStyle } } : end);
  return canonical({ ...link, nodes: link.nodes.map(whole) });
}

export function isSamePort(one: LinkEnd, other: LinkEnd): boolean {
  return one.node_id === other.node_id && one.adapter_number === other.adapter_number && one.port_number === other.port_number;
}

/** Ends with the labels that a client gave for them; other ends that it names are not looked at. */
export function relabelled(ends: readonly LinkEnd[], given: readonly LinkEnd[]): LinkEnd[] {
  return ends.map((end) => {
    const label = given.find((candidate) => isSamePort(candidate, end))?.label;
    return label ? { ...end, label } : end;
  });
}

/** A switch of a stock GNS3 compute cannot: there is no request for it. */
export function canFilter(node: OpenNode): boolean {
  if (isSwitch(node) && node.compute?.isStock) return false;
  return findKind(node.entry.node_type)?.can.filter === true;
}

function isSwitch(node: OpenNode): boolean {
  return findKind(node.entry.node_type)?.inFabric === 'switch';
}

/** Position of the end that filters, rather one of a compute that has all filters, and rather not a switch; undefined: none can. */
export function filteringEnd(nodes: Two<OpenNode>): 0 | 1 | undefined {
  const able = ([0, 1] as const).filter((end) => canFilter(nodes[end]));
  const own = able.filter((end) => !nodes[end].compute?.isStock);
  const ends = own.length > 0 ? own : able;
  return ends.find((end) => !isSwitch(nodes[end])) ?? ends[0];
}

/**
 * @throws `link_unfiltered` when the link's traffic is to be changed, and neither end can do so; `filter_invalid` when a stock GNS3
 * compute would have to do what it cannot
 */
export function requireFilter({ filters, suspend }: LinkEntry, nodes: Two<OpenNode>): void {
  if (!suspend && Object.keys(filters).length === 0) return;
  const [one, other] = nodes.map(({ entry }) => entry.name);
  const end = filteringEnd(nodes);
  if (end === undefined) throw fault('link_unfiltered', { one: String(one), other: String(other) });
  const beyond = nodes[end].compute?.isStock ? beyondGns3(filters) : undefined;
  if (!beyond) return;
  const known = gns3Offers().map(({ type }) => type);
  throw fault('filter_invalid', { ...beyond, known: known.join(', ') });
}

/** Route of a link's frames. */
export interface LinkRoute {
  readonly ports: UdpPorts;
  readonly addresses: Two<string>;
  readonly streams: Two<NioStream> | undefined;
  /** The project replicates the state of links. */
  readonly replicates: boolean;
}

/**
 * Builds the NIOs of both ends. Only one end has the filters. A stock GNS3 compute does not know `suspend` for every
 * kind: there, a filter that loses every frame does the same.
 */
export function niosOf(entry: LinkEntry, nodes: Two<OpenNode>, { ports, addresses, streams, replicates }: LinkRoute): Two<NioUdp> {
  const filtering = filteringEnd(nodes);
  const nio = (end: 0 | 1): NioUdp => ({
    ...(end === filtering && scheduleFor(entry, nodes[end], end)),
    type: 'nio_udp',
    lport: ports[end],
    rhost: addresses[end === 0 ? 1 : 0],
    rport: ports[end === 0 ? 1 : 0],
    filters: end === filtering ? effectiveFilters(entry, nodes[end], end) : {},
    suspend: entry.suspend,
    ...(streams && { stream: streams[end] }),
    ...(replicates && peerState(entry, nodes, end)),
  });
  return [nio(0), nio(1)];
}

/** Returns the state of the other end's node, and the outages of a schedule that runs there, for an end on another compute. */
function peerState({ schedule }: LinkEntry, nodes: Two<OpenNode>, end: 0 | 1): Pick<NioUdp, 'outages' | 'peer_stopped'> {
  const [here, there] = [nodes[end], nodes[end === 0 ? 1 : 0]];
  if (here.compute === there.compute || !here.compute?.hasLinkFeature('link_state')) return {};
  const isElsewhere = end !== filteringEnd(nodes) && here.compute.hasLinkFeature('outages');
  const outages = schedule && isElsewhere ? outagesOf(schedule) : undefined;
  return { peer_stopped: isStopped(there), ...(outages && { outages: outages as NonNullable<NioUdp['outages']> }) };
}

export function isStopped({ live }: OpenNode): boolean {
  return live.status === 'stopped';
}

/** Returns the schedule for an end's compute; empty for a compute that runs no schedules. */
function scheduleFor({ schedule }: LinkEntry, { compute }: OpenNode, end: 0 | 1): Pick<NioUdp, 'schedule'> {
  if (!schedule || !compute?.hasLinkFeature('schedules')) return {};
  return { schedule: (end === 0 ? schedule : reversedSchedule(schedule)) as NonNullable<NioUdp['schedule']> };
}

/** Filters of a node's end as its compute knows them: `ab` is what leaves the node, whichever end of the link it is. */
function effectiveFilters(entry: LinkEntry, node: OpenNode, end: 0 | 1): Filters {
  if (entry.suspend && !node.compute?.isLocal) return { frequency_drop: [-1] };
  return textsFirst(end === 0 ? entry.filters : reversed(entry.filters));
}

export function availableFilters({ entry, nodes }: OpenLink): readonly FilterOffer[] {
  const end = filteringEnd(nodes);
  if (end === undefined) return [];
  if (nodes[end].compute?.isStock) return gns3Offers();
  return offeredFilters(entry.filters, [nodes[0].entry.name, nodes[1].entry.name]);
}

/** Fields of a link's object for a running or ended capture. */
export interface ShownCapture {
  readonly capture_compute_id: string | null;
  readonly capture_file_name: string;
  readonly capture_file_path: string;
  readonly capturing: boolean;
}

export const noCapture = Object.freeze({
  capture_compute_id: null,
  capture_file_name: null,
  capture_file_path: null,
  capturing: false,
});

/** A link of an open project. */
export interface OpenLink {
  readonly entry: LinkEntry;
  readonly object: LinkObject;
  readonly nodes: Two<OpenNode>;
  /** Undefined while the link does not exist on its computes. */
  readonly udpPorts?: UdpPorts;
  /** State of the capture that GNS3's API knows. */
  readonly capture?: ShownCapture;
  /** Why the link does not exist on its computes, or not as it should, for people. */
  readonly problem?: string;
  /** Whether its computes may have later what it lacked, such as space or a free port: the link is tried again. */
  readonly mayPass?: boolean;
}

export function linkObject(
  { entry, capture }: Omit<OpenLink, 'object'>,
  linkType: Port['link_type'],
  projectId: string,
): LinkObject {
  const fields = withoutExtras(entry);
  return assemble<LinkObject>({
    ...fields,
    ...(capture ?? noCapture),
    link_type: linkType,
    nodes: entry.nodes as LinkEnd[],
    project_id: projectId,
  });
}

/** Numbers of the port at one end. */
export function endOf(entry: LinkEntry, end: 0 | 1): { adapter: number; port: number } {
  const { adapter_number = 0, port_number = 0 } = entry.nodes[end] ?? {};
  return { adapter: adapter_number, port: port_number };
}
