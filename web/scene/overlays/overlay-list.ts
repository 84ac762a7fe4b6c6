/** The overlays: functions of the project that give a mark to links and nodes, and the rows of their legends. */
import type { Link } from '../../../src/schema/link.ts';
import { problemIn } from '../../../src/schema/problem-marks.ts';
import { textWidth } from '../../geometry/text-width.ts';
import type { OverlayLook, OverlayMark, OverlayMarks } from '../../state/overlay.ts';
import type { ProjectState } from '../../state/project.ts';
import { impairedText } from '../../texts/impaired.ts';
import { arrowsBetween } from '../link-badge.tsx';
import { overlayTexts as texts } from './overlay-texts.ts';

export interface LegendRow {
  readonly look: OverlayLook;
  readonly text: string;
  /** Stands for nodes. */
  readonly isTag?: true;
}

export interface OverlayView {
  readonly links: OverlayMarks;
  readonly nodes: OverlayMarks;
  readonly legend: readonly LegendRow[];
}

const none: OverlayMarks = new Map();
const plain: OverlayMark = { text: '', look: 0 };
const ratePx = textWidth('→ 8.8M ← 8.8M', 10.5);

const marksOf = (project: ProjectState, markOf: (link: Link) => OverlayMark): OverlayMarks =>
  new Map(project.links.all.value.map((link) => [link.link_id, markOf(link)]));

/** Signs of the directions of a link, as it lies on the canvas. */
export function arrowsOf({ nodes }: ProjectState, link: Link) {
  const [one, other] = link.nodes.map(({ node_id }) => nodes.find(node_id));
  return one && other ? arrowsBetween(one, other) : { ab: '→', ba: '←' };
}

const impairmentLooks = { delay: 1, loss: 2, bandwidth: 3, others: 4, several: 5, none: 0 } as const satisfies Record<
  string,
  OverlayLook
>;

export function impairmentView(project: ProjectState): OverlayView {
  const links = marksOf(project, (link) => {
    const kinds = [...new Set(Object.keys(link.filters).flatMap((key) => kindOf(key.replace(/_(ab|ba)$/, ''))))];
    const [kind = 'none'] = kinds;
    return {
      text: impairedText(link.filters, arrowsOf(project, link)),
      look: impairmentLooks[kinds.length > 1 ? 'several' : kind],
    };
  });
  const kinds = Object.keys(impairmentLooks) as (keyof typeof impairmentLooks)[];
  return { links, nodes: none, legend: kinds.map((kind) => ({ look: impairmentLooks[kind], text: texts.impairment[kind] })) };
}

function kindOf(filter: string): (keyof typeof impairmentLooks)[] {
  if (['jitter', 'match', 'seed'].includes(filter)) return [];
  if (['delay', 'latency'].includes(filter)) return ['delay'];
  if (['packet_loss', 'burst_loss', 'frequency_drop'].includes(filter)) return ['loss'];
  return filter === 'bandwidth' ? ['bandwidth'] : ['others'];
}

/** Rates from which a link shows the next look. */
const rateSteps = [1, 1e4, 1e6, 1e8];

export function rateView(project: ProjectState): OverlayView {
  const links = marksOf(project, (link) => {
    const [there, back] = project.traffic.rateOf(link.link_id).value;
    const look = rateSteps.filter((step) => Math.max(there, back) >= step).length as OverlayLook;
    if (look === 0) return plain;
    const { ab, ba } = arrowsOf(project, link);
    const text = texts.both(texts.way(ab, texts.rate(there)), texts.way(ba, texts.rate(back)));
    return { text, look, room: ratePx };
  });
  return { links, nodes: none, legend: texts.rates.map((text, look) => ({ look: look as OverlayLook, text })) };
}

export type LossCounts = ReadonlyMap<string, { readonly sent: number; readonly lost: number }>;

export function lossView(project: ProjectState, counts: LossCounts): OverlayView {
  const links = marksOf(project, ({ link_id }) => {
    const { sent = 0, lost = 0 } = counts.get(link_id) ?? {};
    if (lost === 0 || sent === 0) return plain;
    const part = Math.min(1, lost / sent);
    return {
      text: `${texts.loss(part)} ${texts.lost}`,
      look: part >= 1 ? 4 : part > 0.1 ? 3 : part > 0.01 ? 2 : 1,
      room: textWidth('8.8 % lost', 10.5),
    };
  });
  const legend = Object.values(texts.losses).map((text, look) => ({ look: look as OverlayLook, text }));
  return { links, nodes: none, legend };
}

export function stateView(project: ProjectState): OverlayView {
  const looks = { started: 1, stopped: 0, suspended: 2, problem: 3 } as const;
  const stateOf = (id: string, line: string | null, status: 'started' | 'stopped' | 'suspended') =>
    project.work.failures.value.has(id) || problemIn(line) !== undefined ? 'problem' : status;
  const nodes = new Map(
    project.nodes.all.value.map(({ node_id, command_line, status }) => {
      const state = stateOf(node_id, command_line, status);
      return [node_id, { text: texts.state[state], look: looks[state] }] as const;
    }),
  );
  const links = marksOf(project, ({ suspend, capturing, link_id }) => {
    const words = [suspend ? texts.state.cut : '', capturing ? texts.state.capturing : ''].filter(Boolean);
    const look = suspend ? 4 : capturing ? 2 : project.traffic.isKernelPath(link_id) ? 1 : 0;
    return { text: words.join(', '), look };
  });
  const tags = (['started', 'stopped', 'suspended', 'problem'] as const).map(
    (state): LegendRow => ({ look: looks[state], text: texts.state[state], isTag: true }),
  );
  const lines: LegendRow[] = [
    { look: 4, text: texts.state.link(texts.state.cut) },
    { look: 2, text: texts.state.link(texts.state.capturing) },
    { look: 1, text: texts.state.link(texts.state.kernel) },
  ];
  return { links, nodes, legend: [...tags, ...lines] };
}
