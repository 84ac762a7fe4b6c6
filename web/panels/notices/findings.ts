/**
 * Decides which things of a lab deserve a notice. Pure, without the page. It says nothing where its facts do not prove it: frames that get no
 * answer are no proof, as a receiver may be silent on purpose; frames that a filter of the link dropped are.
 */
import type { FilterKey, Filters } from '../../../src/schema/filter.ts';
import type { LinkStorm } from '../../../src/schema/link-stats.ts';
import { portsOf, segmentsOf } from '../../scene/overlays/segments.ts';
import type { LinkRecord } from './link-record.ts';

export interface InspectedNode {
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly isStarted: boolean;
  /** A machine with a system of its own, which sends frames by itself once it has booted. */
  readonly isMachine: boolean;
  /** Why it does not start, where an image would repair that. */
  readonly lacksImage: string | undefined;
}

export interface InspectedLink {
  readonly id: string;
  readonly ends: readonly [InspectedEnd, InspectedEnd];
  readonly suspend: boolean;
  readonly filters: Filters;
  /** Undefined while it carries nothing, or nothing is known. */
  readonly record: LinkRecord | undefined;
  readonly storm: LinkStorm | undefined;
}

interface InspectedEnd {
  readonly node: string;
  readonly port: number;
}

/** Own configuration of a host, as it reports it. */
export interface InspectedHost {
  /** Addresses with prefixes: `10.0.0.1/24`. */
  readonly addresses: readonly string[];
  readonly mtu: number | undefined;
}

export interface InspectedLab {
  readonly nodes: readonly InspectedNode[];
  readonly links: readonly InspectedLink[];
  /** Hosts by the id of their node. */
  readonly hosts: ReadonlyMap<string, InspectedHost>;
  readonly nowMs: number;
}

/** `key` is the same as long as the finding is. */
export type LabFinding = { readonly key: string } & (
  | { readonly kind: 'storm'; readonly linkIds: readonly string[]; readonly closer: string | undefined }
  | { readonly kind: 'image'; readonly nodeIds: readonly string[]; readonly message: string }
  | { readonly kind: 'address'; readonly nodeIds: readonly string[]; readonly address: string }
  | OneWay
  | { readonly kind: 'mtu'; readonly nodeIds: readonly string[]; readonly mtus: readonly number[] }
  | { readonly kind: 'silent'; readonly nodeId: string; readonly minutes: number; readonly received: number }
);

export interface OneWay {
  readonly kind: 'one-way';
  readonly linkId: string;
  /** Place of the end whose frames do not arrive. */
  readonly from: 0 | 1;
  readonly filter: FilterKey;
  readonly lost: number;
  /** Frames that arrived the other way meanwhile. */
  readonly arrived: number;
}

/** Frames that prove something, and how many random losses in a row are no chance. */
const [enough, beyondChance] = [20, 500];
const oneWayMs = 30_000;
const ways = ['ab', 'ba'] as const;
/** A machine that is emulated may boot for minutes. */
const silentMs = 300_000;

export function decideFindings(lab: InspectedLab): LabFinding[] {
  const carrying = lab.links.filter(({ suspend }) => !suspend);
  return [
    ...stormOf(lab.links),
    ...lackedImages(lab.nodes),
    ...ofSegments(lab, carrying),
    ...carrying.flatMap((link) => oneWayOf(link, lab.nowMs)),
    ...silentMachines(lab.nodes, carrying, lab.nowMs),
  ];
}

function stormOf(links: readonly InspectedLink[]): LabFinding[] {
  const stormy = links.filter(({ storm }) => storm);
  if (stormy.length === 0) return [];
  const linkIds = stormy.map(({ id }) => id);
  const closer = stormy.find(({ storm }) => storm?.closes_loop)?.id;
  return [{ kind: 'storm', key: `storm ${closer ?? linkIds.join(' ')}`, linkIds, closer }];
}

function lackedImages(nodes: readonly InspectedNode[]): LabFinding[] {
  const byMessage = Map.groupBy(
    nodes.filter(({ lacksImage }) => lacksImage !== undefined),
    ({ lacksImage }) => lacksImage ?? '',
  );
  return Array.from(byMessage, ([message, lacking]) => {
    const nodeIds = lacking.map(({ id }) => id);
    return { kind: 'image', key: `image ${nodeIds.join(' ')} ${message}`, nodeIds, message };
  });
}

/** Addresses that hosts of one segment share, and hosts of one subnet there that differ in their MTU. */
function ofSegments({ nodes, hosts }: InspectedLab, links: readonly InspectedLink[]): LabFinding[] {
  const known = new Set(nodes.flatMap(({ id, isStarted }) => (isStarted && hosts.has(id) ? [id] : [])));
  if (known.size < 2) return [];
  const segments = segmentsOf(
    nodes.map(({ id, properties }) => ({ id, ports: portsOf(properties) })),
    links,
  );
  return segments.flatMap((segment) => {
    const ids = segment.hosts.filter((id) => known.has(id)).sort();
    return [...sharedAddresses(ids, hosts), ...differingMtus(ids, hosts)];
  });
}

function sharedAddresses(ids: readonly string[], hosts: InspectedLab['hosts']): LabFinding[] {
  const owners = new Map<string, string[]>();
  for (const id of ids)
    for (const address of new Set(hosts.get(id)?.addresses.map(withoutPrefix))) {
      if (!isLinkLocal(address)) owners.set(address, [...(owners.get(address) ?? []), id]);
    }
  return Array.from(owners).flatMap(([address, nodeIds]) =>
    nodeIds.length > 1 ? [{ kind: 'address', key: `address ${address} ${nodeIds.join(' ')}`, nodeIds, address }] : [],
  );
}

const withoutPrefix = (address: string) => address.replace(/\/\d+$/, '');
/** Made of the MAC address, or of no use. */
const isLinkLocal = (address: string) => /^(fe80:|169\.254\.|127\.|0\.0\.0\.0$|::1?$)/i.test(address);

/** A host without an address sends no packets. */
function differingMtus(ids: readonly string[], hosts: InspectedLab['hosts']): LabFinding[] {
  const mtuOf = (id: string) => hosts.get(id)?.mtu;
  const talking = ids.filter((id) => mtuOf(id) !== undefined && hosts.get(id)?.addresses.some((one) => !isLinkLocal(one)));
  const mtus = [...new Set(talking.flatMap((id) => mtuOf(id) ?? []))].sort((one, other) => one - other);
  if (mtus.length < 2) return [];
  const nodeIds = talking.toSorted((one, other) => Number(mtuOf(one)) - Number(mtuOf(other)));
  return [{ kind: 'mtu', key: `mtu ${mtus.join(' ')} ${talking.join(' ')}`, nodeIds, mtus }];
}

function oneWayOf({ id, filters, record }: InspectedLink, nowMs: number): LabFinding[] {
  if (!record || record.isScheduled) return [];
  return ([0, 1] as const).flatMap((from): LabFinding[] => {
    const { sinceMs, lost, arrivedBack } = record.runs[from];
    const [cause, count] = Object.entries(lost).toSorted((one, other) => other[1] - one[1])[0] ?? [];
    const direction = `${cause}_${ways[from]}` as FilterKey;
    const filter = direction in filters ? direction : (cause as FilterKey);
    const values = filters[filter];
    if (count === undefined || values === undefined || nowMs - sinceMs < oneWayMs || arrivedBack < enough) return [];
    const needed = isCertain(cause as FilterKey, values) ? enough : beyondChance;
    if (count < needed) return [];
    return [
      { kind: 'one-way', key: `one-way ${id} ${from} ${filter}`, linkId: id, from, filter, lost: count, arrived: arrivedBack },
    ];
  });
}

/** Whether the filter drops frames by a rule, not by chance. */
function isCertain(type: string, [chance]: readonly (number | string)[]): boolean {
  if (type === 'packet_loss') return Number(chance) >= 100;
  return type !== 'burst_loss';
}

/** The record of a link, as one of its ends sees it. */
interface RecordAt {
  readonly record: LinkRecord;
  readonly end: 0 | 1;
}

/** Machines that were sent frames, and have sent none since they came up. */
function silentMachines(nodes: readonly InspectedNode[], links: readonly InspectedLink[], nowMs: number): LabFinding[] {
  const machines = new Map(
    nodes.flatMap(({ id, isStarted, isMachine }) => (isStarted && isMachine ? [[id, [] as RecordAt[]]] : [])),
  );
  if (machines.size === 0) return [];
  for (const { ends, record } of links)
    for (const end of [0, 1] as const) if (record) machines.get(ends[end].node)?.push({ record, end });
  return Array.from(machines).flatMap(([id, own]) => silenceOf(id, own, nowMs));
}

function silenceOf(id: string, own: readonly RecordAt[], nowMs: number): LabFinding[] {
  const received = own.reduce((sum, { record, end }) => sum + record.delivered[end === 0 ? 1 : 0], 0);
  const upMs = Math.min(...own.map(({ record }) => nowMs - record.upSinceMs));
  const isSilent = own.length > 0 && own.every(({ record, end }) => record.received[end] === 0);
  if (!isSilent || received < enough || upMs < silentMs) return [];
  return [{ kind: 'silent', key: `silent ${id}`, nodeId: id, minutes: Math.floor(upMs / 60_000), received }];
}
