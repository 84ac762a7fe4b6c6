/** The counters of the fabric by the ports of nodes: clients of the compute know ports, the fabric knows links. */
import type { DirectionStats, FabricLinkStats, FrameRate } from '../../fabric/protocol.ts';
import { mapInTurns } from '../../lib/turns.ts';
import { gns3CaptureId } from '../../schema/capture.ts';
import { numbersFirst, reversed } from '../../schema/filter.ts';
import type { CaptureFigures, DirectionFigures, PortStats } from '../../schema/link-stats.ts';
import { capturesOf } from '../store.ts';
import { type Binding, type FabricWiring, isPair, mirrorOf } from './wiring.ts';

/** Returns the statistics of these nodes' ports that have a link in the fabric now, with a single request, and in short turns of the event loop. */
export async function portStats(
  wiring: FabricWiring,
  nodeIds: readonly string[],
  stats: (ids: string[]) => Promise<FabricLinkStats[]>,
): Promise<PortStats[]> {
  const places = (await mapInTurns(nodeIds, (id) => wiring.ofNode(id).flatMap((binding) => placed(wiring, binding)))).flat();
  if (places.length === 0) return [];
  const links = await stats([...new Set(places.map(({ linkId }) => linkId))]);
  const byId = new Map(await mapInTurns(links, (link) => [link.id, linkFigures(link)] as const));
  const figures = await mapInTurns(places, ({ binding, linkId, side }) => {
    const found = byId.get(linkId);
    if (!found) return [];
    const { link, since, ab, ba } = found;
    const [from_node, to_node] = side === 'a' ? [ab, ba] : [ba, ab];
    const ofPort: PortStats = {
      node_id: binding.nodeId,
      adapter_number: binding.adapter,
      port_number: binding.port,
      fabric_link: linkId,
      carrier: link.carrier ?? (isPair(linkId) ? 'fabric' : 'udp'),
      ...(link.kernelObstacle !== undefined && { carrier_reason: link.kernelObstacle }),
      ...(link.path && { path: { via: link.path.via, rtt_ms: roundTrip(link.path.rttMs) } }),
      since,
      from_node,
      to_node,
      captures: figuresOfCaptures(binding, link),
      ...figuresOfSchedule(link, side),
      ...figuresOfMirrors(link),
      ...figuresOfStorm(link),
    };
    return [ofPort];
  });
  return figures.flat();
}

function placed(wiring: FabricWiring, binding: Binding) {
  const place = wiring.placeOf(binding);
  return place ? [{ binding, ...place }] : [];
}

/** Figures of a link, which are counted once as both its ends report the same. */
function linkFigures(link: FabricLinkStats) {
  return { link, since: new Date(link.since).toISOString(), ab: figuresOf(link.ab), ba: figuresOf(link.ba) };
}

function figuresOf({ rates, delay, late, ...counts }: DirectionStats): DirectionFigures {
  return {
    received_frames: counts.received,
    received_bytes: counts.receivedBytes,
    frames: counts.sent,
    bytes: counts.sentBytes,
    last_second: rateOf(rates.second),
    last_minute: rateOf(rates.minute),
    dropped: counts.dropped,
    queued_frames: counts.queued,
    queued_bytes: counts.queuedBytes,
    delay: delay ? { median_ms: round(delay.median_ms, 1000), p99_ms: round(delay.p99_ms, 1000) } : null,
    late: late ?? null,
  };
}

function figuresOfSchedule({ schedule }: FabricLinkStats, side: 'a' | 'b'): Pick<PortStats, 'schedule'> {
  if (!schedule) return {};
  const { startedAt, elapsedMs, filters, suspend } = schedule;
  const seen = numbersFirst(side === 'a' ? filters : reversed(filters));
  return { schedule: { started_at: startedAt, elapsed: Math.round(elapsedMs), filters: seen, suspend } };
}

function figuresOfMirrors({ mirrors }: FabricLinkStats): Pick<PortStats, 'mirrors'> {
  if (!mirrors) return {};
  return {
    mirrors: mirrors.map(({ id, sent, queued, dropped }) => {
      const { nodeId, adapter, port } = mirrorOf(id);
      return { node_id: nodeId, adapter_number: adapter, port_number: port, frames: sent, queued_frames: queued, dropped };
    }),
  };
}

function figuresOfStorm({ storm }: FabricLinkStats): Pick<PortStats, 'storm'> {
  if (!storm) return {};
  return {
    storm: {
      since: new Date(storm.since).toISOString(),
      broadcast_frames: storm.broadcasts,
      broadcasts_per_second: round(storm.broadcastsPerSecond, 10),
      returned_frames: storm.returned,
      returned_per_second: round(storm.returnedPerSecond, 10),
      in_loop: storm.isLoop,
      vlan: storm.vlan ?? null,
    },
  };
}

function rateOf({ framesPerSecond, bitsPerSecond }: FrameRate): DirectionFigures['last_second'] {
  return { frames_per_second: round(framesPerSecond, 10), bits_per_second: Math.round(bitsPerSecond) };
}

function roundTrip(rttMs: number | undefined): number | null {
  return rttMs === undefined ? null : round(rttMs, 1000);
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}

function figuresOfCaptures({ nio }: Binding, { captures = [] }: FabricLinkStats): CaptureFigures[] {
  return capturesOf(nio).flatMap((record) => {
    const figures = captures.find(({ path }) => path === record.path);
    if (!figures) return [];
    const { frames, bytes, missed, ended = null } = figures;
    const capture_id = record.id === gns3CaptureId ? null : record.id;
    return { capture_id, file_name: record.file_name, side: record.side, frames, bytes, missed_frames: missed, ended };
  });
}
