/** Compares the links of a lab with those of a project. */

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { reversed } from '../../src/schema/filter.ts';
import type { Link, LinkInput, LinkMirror } from '../../src/schema/link.ts';
import type { Label, Node } from '../../src/schema/node.ts';
import type { LinkSchedule } from '../../src/schema/schedule.ts';
import { reversedSchedule } from '../../src/schema/schedule-rules.ts';
import type { Lab, LabEnd } from '../file/lab.ts';
import { type LabSchedule, scheduleWithoutStart } from '../file/link-schedule.ts';
import type { LabProjectState } from '../state/lab-state.ts';
import { type AssignedLink, assignPorts, bothEnds, type PortsOfNode } from './assign-ports.ts';
import type { Change, LinkStep, NodeStep, PlannedEnd, PortRef } from './lab-plan.ts';

/** Links of the file with their ports and the links of the project that they are. */
interface MatchedLinks {
  readonly assigned: readonly AssignedLink[];
  /** Links of the project that are not deleted with a node. */
  readonly present: readonly Link[];
}

/** Matches the links of the file with those of the project. `steps`: of the nodes. @throws LabError */
export function matchLinks(lab: Lab, state: LabProjectState | undefined, steps: readonly NodeStep[]): MatchedLinks {
  const gone = new Set(steps.flatMap(({ action, id }) => (id && (action === 'delete' || action === 'replace') ? [id] : [])));
  const rewired = new Set(steps.flatMap(({ id, rewired: is }) => (id && is ? [id] : [])));
  const touches = (link: Link, ids: ReadonlySet<string>) => link.nodes.some(({ node_id }) => ids.has(node_id));
  // A link is deleted with its node, not in a step of its own.
  const present = (state?.links ?? []).filter((link) => !touches(link, gone));
  const assigned = assignPorts(
    lab.links,
    { links: present.filter((link) => !touches(link, rewired)), mirrors: state?.mirrors ?? new Map() },
    nodesByName(state, steps, gone),
  );
  return { assigned, present };
}

/** Plans the links, deletions first. `steps`: of the nodes. @throws LabError */
export function planLinks(lab: Lab, state: LabProjectState | undefined, steps: readonly NodeStep[]): LinkStep[] {
  const byId = new Map((state?.nodes ?? []).map((node) => [node.node_id, node]));
  const { assigned, present } = matchLinks(lab, state, steps);
  const kept = new Set(assigned.map(({ present: link }) => link?.link_id));
  const deleted = present.filter(({ link_id }) => !kept.has(link_id)).map((link) => deletion(link, byId));
  const seen = new Map<object, string>();
  const changed = assigned.flatMap((one) => {
    const { present: link } = one;
    const step = link
      ? changeOf(one, { link, mirror: state?.mirrors.get(link.link_id), schedule: state?.schedules.get(link.link_id) }, byId)
      : creation(one);
    return step ? { ...step, place: one.link.place, changes: step.changes.map((change) => withoutTraces(change, seen)) } : [];
  });
  return [...deleted, ...changed];
}

function withoutTraces(change: Change, seen: Map<object, string>): Change {
  if (change.field !== 'schedule') return change;
  const shown = (value: unknown) => shownSchedule(value as LabSchedule | undefined, seen);
  return { field: change.field, from: shown(change.from), to: shown(change.to) };
}

function nodesByName(
  state: LabProjectState | undefined,
  steps: readonly NodeStep[],
  gone: ReadonlySet<string>,
): ReadonlyMap<string, PortsOfNode> {
  const changing = new Set(steps.flatMap(({ id, update }) => (id && update ? [id] : [])));
  const stays = (state?.nodes ?? []).filter(({ node_id }) => !gone.has(node_id));
  return new Map(stays.map((node) => [node.name.replaceAll(' ', ''), { node, changes: changing.has(node.node_id) }]));
}

function deletion(link: Link, byId: ReadonlyMap<string, Node>): LinkStep {
  const ends = link.nodes.map(({ node_id, adapter_number, port_number }) => {
    const node = byId.get(node_id);
    const port = node?.ports.find((one) => one.adapter_number === adapter_number && one.port_number === port_number);
    return `${node?.name ?? node_id}:${port?.name ?? `${adapter_number}/${port_number}`}`;
  });
  return { action: 'delete', name: ends.join(' - '), id: link.link_id, changes: [] };
}

function creation(assigned: AssignedLink): LinkStep {
  const { link, ports } = assigned;
  const mirror = plannedMirror(assigned);
  const ends = bothEnds(link, (end, side) => plannedEnd(end, ports[side]));
  const { filters, suspend, schedule, style } = link;
  const changes: Change[] = [
    ...(Object.keys(filters).length > 0 ? [{ field: 'filters', to: filters }] : []),
    ...(suspend ? [{ field: 'suspend', to: true }] : []),
    ...(mirror ? [{ field: 'mirror', to: nameOfPort(mirror.node, mirror.port, mirror.wanted) }] : []),
    ...(schedule ? [{ field: 'schedule', to: schedule }] : []),
  ];
  return {
    action: 'create',
    name: nameOf(assigned),
    changes,
    ends,
    ...(mirror && { mirror }),
    body: { filters, suspend, ...(style && { link_style: style }) },
    ...(schedule && { schedule }),
  };
}

function plannedMirror({ link: { mirror }, mirrorPort }: AssignedLink): PlannedEnd | undefined {
  return mirror && { node: mirror.node, port: mirrorPort, wanted: mirror.port };
}

function plannedEnd({ node, port: wanted, label }: LabEnd, port: AssignedLink['ports'][number]): PlannedEnd {
  const text = label?.text ?? (port && `${port.adapter}/${port.port}`) ?? '';
  return { node, port, wanted, ...(label && { label: { ...label, text } }) };
}

function nameOf({ link, ports }: Pick<AssignedLink, 'link' | 'ports'>): string {
  return link.ends.map(({ node, port }, side) => nameOfPort(node, ports[side], port)).join(' - ');
}

function nameOfPort(node: string, port: PortRef | undefined, wanted: string | undefined): string {
  return `${node}:${port?.name ?? wanted ?? '(first free)'}`;
}

/** Returns the change of a link's mirror; undefined: it stays. */
function mirrorChange(
  assigned: AssignedLink,
  present: LinkMirror | undefined,
  byId: ReadonlyMap<string, Node>,
): Pick<LinkStep, 'mirror' | 'changes'> | undefined {
  const wanted = plannedMirror(assigned);
  const node = present && byId.get(present.node_id);
  const port = node?.ports.find((one) => present?.adapter_number === one.adapter_number && present.port_number === one.port_number);
  const isSamePort = port && wanted?.port?.adapter === port.adapter_number && wanted.port.port === port.port_number;
  if (wanted ? node?.name.replaceAll(' ', '') === wanted.node && isSamePort : !present) return undefined;
  const from = present && `${node?.name ?? present.node_id}:${port?.name ?? `${present.adapter_number}/${present.port_number}`}`;
  const to = wanted && nameOfPort(wanted.node, wanted.port, wanted.wanted);
  return { mirror: wanted ?? null, changes: [{ field: 'mirror', from, to }] };
}

/** A link of the project, its mirror and its schedule. */
interface PresentLink {
  readonly link: Link;
  readonly mirror: LinkMirror | undefined;
  readonly schedule: LinkSchedule | undefined;
}

function changeOf(
  assigned: AssignedLink,
  { link: present, mirror, schedule: running }: PresentLink,
  byId: ReadonlyMap<string, Node>,
): LinkStep | undefined {
  const { link } = assigned;
  const otherMirror = mirrorChange(assigned, mirror, byId);
  // The project may have the ends in the opposite order.
  const isTurned = byId.get(present.nodes[0]?.node_id ?? '')?.name.replaceAll(' ', '') !== link.ends[0].node;
  const filters = isTurned ? reversed(link.filters) : link.filters;
  const style = link.style ?? {};
  const schedule = scheduleChange(link.schedule, running, isTurned);
  const labels = labelChanges(link.ends, present, byId);
  const changes: Change[] = [
    ...(isSame(present.filters, filters) ? [] : [{ field: 'filters', from: present.filters, to: filters }]),
    ...(present.suspend === link.suspend ? [] : [{ field: 'suspend', from: present.suspend, to: link.suspend }]),
    ...schedule,
    ...(link.style === undefined || isSame(present.link_style, style)
      ? []
      : [{ field: 'style', from: present.link_style, to: style }]),
    ...(labels
      ? [{ field: 'labels', from: present.nodes.map(({ label }) => label?.text), to: labels.map(({ label }) => label?.text) }]
      : []),
    ...(otherMirror?.changes ?? []),
  ];
  if (changes.length === 0) return undefined;
  const has = (field: string) => changes.some((change) => change.field === field);
  const body: LinkInput = {
    ...(has('filters') && { filters }),
    ...(has('suspend') && { suspend: link.suspend }),
    ...(has('style') && { link_style: style }),
    ...(labels && { nodes: labels }),
  };
  const [changed] = schedule;
  return {
    ...{ action: 'update', name: nameOf(assigned), id: present.link_id, changes, body },
    ...(otherMirror && { mirror: otherMirror.mirror ?? null }),
    ...(changed && { schedule: (changed.to as LabSchedule | undefined) ?? null }),
  };
}

/** Compares schedules without their start: a running schedule that equals the file's continues. */
function scheduleChange(wanted: LabSchedule | undefined, present: LinkSchedule | undefined, isTurned: boolean): Change[] {
  const to = wanted && (isTurned ? scheduleWithoutStart(reversedSchedule({ started_at: 0, ...wanted })) : wanted);
  const from = present && scheduleWithoutStart(present);
  return isSame(from, to) ? [] : [{ field: 'schedule', from, to }];
}

/** Returns all ends with the labels of the file; undefined when they equal the present ones. */
function labelChanges(ends: readonly LabEnd[], present: Link, byId: ReadonlyMap<string, Node>): Link['nodes'] | undefined {
  let isOther = false;
  const labelled = present.nodes.map((end) => {
    const name = byId.get(end.node_id)?.name.replaceAll(' ', '');
    const label = ends.find(({ node }) => node === name)?.label;
    const isKept = Object.entries(label ?? {}).every(([key, value]) => isSame(end.label?.[key as keyof Label], value));
    if (!label || isKept) return end;
    isOther = true;
    return { ...end, label: { ...end.label, ...label, text: label.text ?? end.label?.text ?? '' } };
  });
  return isOther ? labelled : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(plain(one), plain(other));
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Most samples that are shown; longer traces are shown by length and checksum. */
const shownSamples = 20;
const checksumCharacters = 12;

/**
 * Shortens a schedule for the plan: a long trace would be repeated for each link of a range, megabytes each time.
 * `seen`: checksums of this plan, because links of one range share their samples.
 */
function shownSchedule(schedule: LabSchedule | undefined, seen: Map<object, string>): unknown {
  if (schedule?.traces === undefined) return schedule;
  const traces = schedule.traces.map((trace) =>
    trace.samples.length <= shownSamples ? trace : { ...trace, samples: samplesText(trace.samples, seen) },
  );
  return { ...schedule, traces };
}

function samplesText(samples: readonly object[], seen: Map<object, string>): string {
  const known = seen.get(samples);
  if (known !== undefined) return known;
  const checksum = createHash('sha256').update(JSON.stringify(samples)).digest('hex').slice(0, checksumCharacters);
  const text = `${samples.length} samples, sha256 ${checksum}…`;
  seen.set(samples, text);
  return text;
}
