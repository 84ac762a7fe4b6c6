/** The traffic, loss and delay of a link, updated once a second while the graph is visible. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Link } from '../../src/schema/link.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { endNames } from '../scene/link-view.tsx';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { historyMs, type LinkSample, roundTop, type WaySample, withSample } from './link-history.ts';

const widthPx = 276;
const heightPx = 34;
/** Marks of the time axis, before now. */
const axisSeconds = [120, 90, 60, 30];
/** The server samples once a second. */
const sampleMs = 1000;

interface Measure {
  readonly label: string;
  readonly of: (way: WaySample) => number | null;
  readonly show: (value: number) => string;
}

const measures: readonly Measure[] = [
  { label: texts.graph.rate, of: ({ bitsPerSecond }) => bitsPerSecond, show: texts.graph.bits },
  { label: texts.graph.drops, of: ({ dropsPerSecond }) => dropsPerSecond, show: texts.graph.perSecond },
  { label: texts.graph.delay, of: ({ delayMs }) => delayMs, show: texts.graph.milliseconds },
];

interface LinkGraphProps {
  readonly link: Link;
  readonly live: LiveFigures;
}

export function LinkGraph({ link, live: { stats, history } }: LinkGraphProps) {
  const names = endNames(useProject(), link);
  if (stats && !stats.running) return <p class="state">{stats.reason}</p>;
  return (
    <section class="link-graph" aria-label={texts.graph.title}>
      <header class="legend">
        <h3>{texts.graph.title}</h3>
        <span class="way-ab">{texts.impair.way('ab', names)}</span>
        <span class="way-ba">{texts.impair.way('ba', names)}</span>
      </header>
      {measures.map((measure) => (
        <Graph key={measure.label} measure={measure} history={history} />
      ))}
      <p class="time-axis" aria-hidden="true">
        {[...axisSeconds, 0].map((seconds) => (
          <span key={seconds}>{texts.graph.ago(seconds)}</span>
        ))}
      </p>
      {stats && <Losses stats={stats} />}
      {stats?.carrier && <p class="hint">{texts.graph.carrier[stats.carrier]}</p>}
      {stats?.carrier_reason && <p class="hint">{texts.graph.carrierReason(stats.carrier_reason)}</p>}
    </section>
  );
}

/** The last figures of a link, and those of the last two minutes. */
export interface LiveFigures {
  readonly stats: LinkStats | undefined;
  readonly history: readonly LinkSample[];
}

/** Polls this link only, once a second. */
export function useLinkStats(linkId: string): LiveFigures {
  const { api } = useApp();
  const { path } = useProject();
  const last = useSignal<{ readonly stats: LinkStats; readonly atMs: number } | undefined>(undefined);
  const history = useSignal<readonly LinkSample[]>([]);
  useEffect(() => {
    let isAsking = false;
    const ask = async () => {
      if (isAsking) return;
      isAsking = true;
      // A missing response leaves a gap in the graph; the connection bar reports a lost server.
      const stats = await api.get<LinkStats>(`${path}/links/${linkId}/stats`).catch(() => undefined);
      isAsking = false;
      if (!stats) return;
      const now = { stats, atMs: Date.now() };
      history.value = withSample(history.peek(), now, last.peek());
      last.value = now;
    };
    void ask();
    const timer = setInterval(() => void ask(), sampleMs);
    return () => clearInterval(timer);
  }, [api, path, linkId, history, last]);
  return { stats: last.value?.stats, history: history.value };
}

function Graph({ measure, history }: { readonly measure: Measure; readonly history: readonly LinkSample[] }) {
  const latest = history.at(-1);
  const values = history.flatMap(({ ways }) => ways.map((way) => measure.of(way) ?? 0));
  const top = roundTop(Math.max(0, ...values));
  const now = ([0, 1] as const).map((way) => (latest ? measure.of(latest.ways[way]) : null));
  const shown = now.map((value) => (value === null ? '–' : measure.show(value)));
  return (
    <figure>
      <figcaption>
        <span>{measure.label}</span>
        <span class="way-ab">{shown[0]}</span>
        <span class="way-ba">{shown[1]}</span>
      </figcaption>
      <svg viewBox={`0 0 ${widthPx} ${heightPx}`} role="img" aria-label={`${measure.label}: ${shown.join(', ')}`}>
        <path class="base" d={`M0 ${heightPx - 0.5}H${widthPx}`} />
        {([0, 1] as const).map((way) => (
          <path
            key={way}
            class={way === 0 ? 'way-ab' : 'way-ba'}
            d={lineOf(history, (sample) => measure.of(sample.ways[way]), top)}
          />
        ))}
        {axisSeconds.map((seconds) => (
          <path key={seconds} class="grid" d={`M${widthPx * (1 - (seconds * 1000) / historyMs)} 0V${heightPx}`} />
        ))}
        <text x={widthPx - 2} y={10}>
          {measure.show(top)}
        </text>
      </svg>
    </figure>
  );
}

/** Interrupted where a sample has no value. */
function lineOf(history: readonly LinkSample[], of: (sample: LinkSample) => number | null, top: number): string {
  const end = history.at(-1)?.atMs ?? 0;
  let isDrawing = false;
  return history
    .map((sample) => {
      const value = of(sample);
      const x = widthPx * (1 - (end - sample.atMs) / historyMs);
      const y = heightPx - 1 - ((value ?? 0) / top) * (heightPx - 4);
      const step = value === null ? '' : `${isDrawing ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
      isDrawing = value !== null;
      return step;
    })
    .join('');
}

/** Causes of lost frames since the link came up. */
function Losses({ stats }: { readonly stats: LinkStats }) {
  const lost = new Map<string, number>();
  for (const { dropped } of stats.directions)
    for (const [cause, count] of Object.entries(dropped)) if (count > 0) lost.set(cause, (lost.get(cause) ?? 0) + count);
  const [there, back] = stats.directions;
  return (
    <p class="losses">
      {texts.graph.frames(there.frames, back.frames)}
      {[...lost].map(([cause, count]) => (
        <span key={cause} class="chip">
          {texts.graph.lost(cause, count)}
        </span>
      ))}
    </p>
  );
}
