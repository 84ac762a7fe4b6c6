/** Makes an overlay of the canvas and its legend. Loaded when the first overlay is shown. */
import './overlays.css';
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { LinkStats } from '../../../src/schema/link-stats.ts';
import type { NodeProbeAnswer } from '../../../src/schema/pc-probe.ts';
import type { App } from '../../state/app.ts';
import { Batches } from '../../state/batches.ts';
import {
  type CanvasOverlay,
  keepEqual,
  type OverlayLook,
  type OverlayMarks,
  type OverlayName,
  overlayNames,
} from '../../state/overlay.ts';
import { isPc } from '../../state/pcs.ts';
import type { ProjectState } from '../../state/project.ts';
import { Button } from '../../ui/button.tsx';
import { impairmentView, type LossCounts, lossView, type OverlayView, rateView, stateView } from './overlay-list.ts';
import { overlayTexts as texts } from './overlay-texts.ts';
import { segmentView } from './segment-view.ts';

/** Commands of the legend. */
interface OverlayControl {
  readonly close: () => void;
  readonly show: (name: OverlayName) => void;
}

export function createOverlay(
  name: OverlayName,
  { app, project }: { readonly app: App; readonly project: ProjectState },
  control: OverlayControl,
): CanvasOverlay {
  const { view, stop } = viewOf(name, app, project);
  const now = computed(() => view());
  const Legend = () => <LegendView name={name} view={now} control={control} coveredPx={app.viewport.covered.value.left} />;
  return { name, links: kept(() => now.value.links), nodes: kept(() => now.value.nodes), Legend, stop };
}

function kept(marks: () => OverlayMarks): ReadonlySignal<OverlayMarks> {
  let before: OverlayMarks = new Map();
  return computed(() => {
    before = keepEqual(marks(), before);
    return before;
  });
}

interface OverlaySource {
  readonly view: () => OverlayView;
  readonly stop: () => void;
}

function viewOf(name: OverlayName, app: App, project: ProjectState): OverlaySource {
  const idle = () => undefined;
  if (name === 'impairment') return { view: () => impairmentView(project), stop: idle };
  if (name === 'rate') return { view: () => rateView(project), stop: idle };
  if (name === 'state') return { view: () => stateView(project), stop: idle };
  return name === 'loss' ? lossSource(project) : segmentSource(app, project);
}

/** Counts from the moment at which it is shown. */
function lossSource(project: ProjectState): OverlaySource {
  const counts = signal<LossCounts>(new Map());
  const first = new Map<string, { readonly sent: number; readonly lost: number }>();
  const found = new Map<string, { readonly sent: number; readonly lost: number }>();
  const changed = new Batches<LinkStats>({
    apply: (stats) => {
      const sum = sumOf(stats);
      const from = first.get(stats.link_id);
      // A link that came up again counts from 0.
      if (!from || sum.sent < from.sent) first.set(stats.link_id, sum);
      else found.set(stats.link_id, { sent: sum.sent - from.sent, lost: sum.lost - from.lost });
    },
    together: (apply) => {
      apply();
      counts.value = new Map(found);
    },
    failed: (error) => console.error(error),
  });
  return { view: () => lossView(project, counts.value), stop: project.traffic.listen((stats) => changed.push(stats)) };
}

function sumOf({ directions }: LinkStats) {
  const lostOf = (dropped: Readonly<Record<string, number>>) => Object.values(dropped).reduce((sum, count) => sum + count, 0);
  return {
    sent: directions.reduce((sum, { received_frames }) => sum + received_frames, 0),
    lost: directions.reduce((sum, { dropped }) => sum + lostOf(dropped), 0),
  };
}

/** Number of PCs that are asked for their addresses. */
const mostAsked = 200;

/** Asks each PC that runs for its addresses, one after the other, and again when another one starts. */
function segmentSource({ api }: App, project: ProjectState): OverlaySource {
  const addresses = signal<ReadonlyMap<string, readonly string[]>>(new Map());
  let isStopped = false;
  const running = computed(() =>
    project.nodes.all.value
      .filter((node) => isPc(node) && node.status === 'started')
      .map(({ node_id }) => node_id)
      .slice(0, mostAsked)
      .join(' '),
  );
  const ask = async (ids: string) => {
    for (const id of ids.split(' ').filter(Boolean)) {
      if (isStopped || running.peek() !== ids) return;
      const answer = await api
        .post<NodeProbeAnswer>(`${project.path}/nodes/${id}/probe`, { type: 'addresses' })
        .catch(() => undefined);
      if (answer?.addresses) addresses.value = new Map(addresses.peek()).set(id, answer.addresses);
    }
  };
  const end = effect(() => void ask(running.value));
  return {
    view: () => segmentView(project, addresses.value),
    stop: () => {
      isStopped = true;
      end();
    },
  };
}

interface LegendProps {
  readonly name: OverlayName;
  readonly view: ReadonlySignal<OverlayView>;
  readonly control: OverlayControl;
  /** Part of the canvas that the palette covers in narrow windows. */
  readonly coveredPx: number;
}

function LegendView({ name, view, control, coveredPx }: LegendProps) {
  const { legend } = view.value;
  const note = texts.notes[name];
  const choose = ({ currentTarget: { value } }: { readonly currentTarget: HTMLSelectElement }) =>
    control.show(overlayNames.find((one) => one === value) ?? name);
  return (
    <section class="overlay-legend" aria-label={texts.legend} style={{ '--covered': `${coveredPx}px` }}>
      <header>
        <select aria-label={texts.overlay} value={name} onChange={choose}>
          {overlayNames.map((one, place) => (
            <option key={one} value={one}>
              {`${texts.titles[one]} (${place + 1})`}
            </option>
          ))}
        </select>
        <Button kind="quiet" icon="close" label={texts.close} onClick={control.close} />
      </header>
      <ul>
        {legend.map(({ look, text, isTag }) => (
          <li key={`${look} ${text}`}>
            <Sample look={look} isTag={isTag === true} />
            {text}
          </li>
        ))}
      </ul>
      {note !== '' && <p>{note}</p>}
    </section>
  );
}

function Sample({ look, isTag }: { readonly look: OverlayLook; readonly isTag: boolean }) {
  return (
    <svg class="legend-sample" width={36} height={14} aria-hidden="true">
      {isTag ? (
        <rect class={`tag look-${look}`} x={2} y={2} width={32} height={10} rx={5} />
      ) : (
        <path class={`look-${look}`} d="M2 7H34" />
      )}
    </svg>
  );
}
