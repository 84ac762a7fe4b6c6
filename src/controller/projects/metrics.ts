/** Metrics of projects, nodes and links. */
import { counter, gauge, type Metric, type MetricValue } from '../../lib/metric.ts';
import type { DirectionCounters, LinkStats } from '../../schema/link-stats.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { KnownProject } from './project.ts';

export async function controllerMetrics(projects: Iterable<KnownProject>): Promise<Metric[]> {
  const all = [...projects];
  const live = all.flatMap((project) => project.liveNow ?? []);
  const stats = (await Promise.all(live.map((project) => project.linkStats.list()))).flat();
  const count = (status: string) => all.filter(({ object }) => object.status === status).length;
  return [
    gauge('patchbay_projects', 'Known projects', [
      { labels: { status: 'opened' }, value: count('opened') },
      { labels: { status: 'closed' }, value: count('closed') },
    ]),
    gauge('patchbay_node_status', 'The node of an open project has this status', live.flatMap(nodeValues)),
    ...linkMetrics(stats),
    stormMetric(stats),
    ...captureMetrics(stats),
  ];
}

function nodeValues(project: LiveProject): MetricValue[] {
  return [...project.nodes.all()].map(({ id, entry, live }) => {
    const { name: node, node_type, compute_id } = entry;
    return { labels: { project_id: project.projectId, node_id: id, node, node_type, compute_id, status: live.status }, value: 1 };
  });
}

function linkMetrics(stats: readonly LinkStats[]): Metric[] {
  const ways = stats.flatMap(({ project_id, link_id, directions }) =>
    directions.map((figures) => {
      const { from_node_id, from_node, to_node_id, to_node } = figures;
      return { labels: { project_id, link_id, from_node_id, from_node, to_node_id, to_node }, figures };
    }),
  );
  const each = (value: (figures: DirectionCounters) => number) =>
    ways.map(({ labels, figures }) => ({ labels, value: value(figures) }));
  return [
    gauge(
      'patchbay_link_up',
      'Whether the link can carry frames',
      stats.map(({ project_id, link_id, running }) => ({ labels: { project_id, link_id }, value: Number(running) })),
    ),
    counter(
      'patchbay_link_received_frames_total',
      'Frames that the sending node gave to the link',
      each(({ received_frames }) => received_frames),
    ),
    counter(
      'patchbay_link_frames_total',
      'Frames that left the link',
      each(({ frames }) => frames),
    ),
    counter(
      'patchbay_link_bytes_total',
      'Bytes of the frames that left the link',
      each(({ bytes }) => bytes),
    ),
    counter(
      'patchbay_link_dropped_frames_total',
      'Frames lost, by filter or other cause',
      ways.flatMap(({ labels, figures }) =>
        Object.entries(figures.dropped).map(([cause, value]) => ({ labels: { ...labels, cause }, value })),
      ),
    ),
    gauge(
      'patchbay_link_queued_frames',
      'Frames that wait in the link',
      each(({ queued_frames }) => queued_frames),
    ),
    gauge(
      'patchbay_link_delay_seconds',
      'How long held frames really waited, over the last seconds',
      ways.flatMap(({ labels, figures: { delay } }) =>
        delay
          ? [
              { labels: { ...labels, quantile: '0.5' }, value: delay.median_ms / 1000 },
              { labels: { ...labels, quantile: '0.99' }, value: delay.p99_ms / 1000 },
            ]
          : [],
      ),
    ),
  ];
}

function stormMetric(stats: readonly LinkStats[]): Metric {
  return gauge(
    'patchbay_link_storm_frames_per_second',
    'Broadcasts and returned frames of a link in a storm; closes_loop says whether suspending it ends a loop',
    stats.flatMap(({ project_id, link_id, storm }) => {
      if (!storm) return [];
      const labels = { project_id, link_id, closes_loop: String(storm.closes_loop) };
      return { labels, value: Math.max(storm.broadcasts_per_second, storm.returned_per_second) };
    }),
  );
}

function captureMetrics(stats: readonly LinkStats[]): Metric[] {
  const captures = stats.flatMap(({ project_id, link_id, captures: ofLink }) =>
    ofLink.map(({ capture_id: _, file_name, side, ...figures }) => ({
      labels: { project_id, link_id, file_name, side },
      ...figures,
    })),
  );
  return [
    counter(
      'patchbay_capture_frames_total',
      'Frames taken by the captures that run',
      captures.map(({ labels, frames }) => ({ labels, value: frames })),
    ),
    counter(
      'patchbay_capture_missed_frames_total',
      'Frames that passed and are not in the file, because the disk was slower',
      captures.map(({ labels, missed_frames }) => ({ labels, value: missed_frames })),
    ),
  ];
}
