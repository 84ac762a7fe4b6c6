/** Marks of the links and nodes of a trace, and the sentence that says how it ended. */

import type { PacketHop, PacketTrace, PacketWay } from '../../../src/schema/frame-trace.ts';
import type { Link } from '../../../src/schema/link.ts';
import type { OverlayLook, OverlayMark, OverlayMarks } from '../../state/overlay.ts';
import type { ProjectState } from '../../state/project.ts';
import { impairedText } from '../../texts/impaired.ts';
import { arrowsOf } from '../overlays/overlay-list.ts';
import { traceTexts as texts } from './trace-texts.ts';

const looks = { there: 1, back: 2, both: 5, lost: 4 } as const satisfies Record<string, OverlayLook>;

export interface ShownHop extends PacketHop {
  readonly isAnswer: boolean;
}

/** All hops, in the order in which they are lit. */
export const hopsOf = ({ ways }: PacketTrace): ShownHop[] =>
  ways.flatMap(({ hops, is_answer }) => hops.map((hop) => ({ ...hop, isAnswer: is_answer })));

/** Marks of the links of these hops, which have been lit. */
export function linkMarks(project: ProjectState, hops: readonly ShownHop[]): OverlayMarks {
  const marks = new Map<string, OverlayMark>();
  for (const { link_id } of hops) {
    const link = project.links.find(link_id);
    if (!link || marks.has(link_id)) continue;
    const own = hops.filter((hop) => hop.link_id === link_id);
    const isLost = own.some(({ lost }) => lost !== null);
    const [there, back] = [own.some(({ isAnswer }) => !isAnswer), own.some(({ isAnswer }) => isAnswer)];
    const look = isLost ? looks.lost : there && back ? looks.both : back ? looks.back : looks.there;
    marks.set(link_id, { text: own.map((hop) => textOf(project, link, hop)).join(' '), look });
  }
  return marks;
}

function textOf(project: ProjectState, link: Link, { from_node_id, delay_ms, lost }: ShownHop): string {
  const { ab, ba } = arrowsOf(project, link);
  const arrow = link.nodes[0]?.node_id === from_node_id ? ab : ba;
  return texts.marked(arrow, delayText({ delay_ms, lost }));
}

export function delayText({ delay_ms, lost }: Pick<PacketHop, 'delay_ms' | 'lost'>): string {
  return lost !== null ? texts.lostHere : delay_ms === null ? texts.noDelay : texts.delay(delay_ms);
}

/** Marks the node that did not send a packet on. */
export function nodeMarks({ ways }: PacketTrace): OverlayMarks {
  const stopped = ways.flatMap(({ end, hops }) => (end === 'stopped' ? (hops.at(-1)?.to_node_id ?? []) : []));
  return new Map(stopped.map((id) => [id, { text: texts.notSentOn, look: looks.lost }]));
}

export const nodeName = ({ nodes }: ProjectState, id: string): string => nodes.find(id)?.name ?? '?';

/** Says how the trace ended. */
export function outcomeOf(project: ProjectState, trace: PacketTrace): string {
  const { ways, answered, error, failure, from_node_id } = trace;
  const name = (id: string) => nodeName(project, id);
  const last = ways.at(-1);
  if (!last) return failure === null ? texts.unseen(name(from_node_id)) : texts.failed(name(from_node_id), failure);
  if (answered) return texts.answered(endMs(last) - startMs(trace));
  if (error !== null) return texts.error(error);
  return endOf(project, last);
}

function endOf(project: ProjectState, { hops, end, packet, is_answer }: PacketWay): string {
  const hop = hops.at(-1);
  const name = (id = '') => nodeName(project, id);
  const what = texts.packet(packet, is_answer);
  const link = texts.between(name(hop?.from_node_id), name(hop?.to_node_id));
  if (end === 'lost') return texts.lost(link, what, reasonOf(project, hop));
  if (end === 'under_way') return texts.underWay(link, what);
  return end === 'stopped' ? texts.stopped(name(hop?.to_node_id), what) : texts.arrived(name(hop?.to_node_id), what);
}

/** Names a filter with its values, as the link has them now. */
function reasonOf({ links }: ProjectState, hop: PacketHop | undefined): string {
  const cause = hop?.lost ?? '';
  const { filters = {} } = links.find(hop?.link_id ?? '') ?? {};
  const own = Object.entries(filters).filter(([key]) => key.replace(/_(ab|ba)$/, '') === cause);
  return texts.reason(cause) ?? texts.filter(cause, impairedText(Object.fromEntries(own), { ab: '→', ba: '←' }));
}

export const startMs = ({ ways }: PacketTrace): number => ways[0]?.hops[0]?.at_ms ?? 0;

function endMs({ hops }: PacketWay): number {
  const last = hops.at(-1);
  return last ? last.at_ms + (last.delay_ms ?? 0) : 0;
}
