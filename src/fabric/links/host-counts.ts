/** Counters of the kernel that belong to links: those of redirected frames, and of frames that were lost in TAP interfaces. */
import type { KernelCounts } from '../kernel-paths/kernel-counters.ts';
import type { PlaceName, SentFrames } from '../ports/interface-place.ts';
import type { FabricPort } from '../ports/port.ts';
import type { DirectionStats, MirrorStats } from '../protocol.ts';

/** Counters of the kernel in a namespace. */
export interface HostCounts {
  readonly kernel: KernelCounts;
  /** Frames of each interface. */
  readonly sent: ReadonlyMap<string, SentFrames>;
}

export const noCounts: HostCounts = Object.freeze({ kernel: new Map(), sent: new Map() });

/** Adds two losses at TAP interfaces to the counters: frames lost in the queue of `source`, and frames that `sink` refused. */
export function withTapLosses(
  stats: DirectionStats,
  { source, sink }: { source: FabricPort | undefined; sink: FabricPort | undefined },
  counts: Readonly<Record<PlaceName, HostCounts>>,
): DirectionStats {
  const tap = source?.tap;
  const lost = tap?.lost(counts[tap.place].sent.get(tap.name)?.dropped ?? 0) ?? 0;
  const counted = withRefused(stats, sink);
  if (lost === 0) return counted;
  const queue_full = (counted.dropped.queue_full ?? 0) + lost;
  return { ...counted, received: counted.received + lost, dropped: { ...counted.dropped, queue_full } };
}

/** Counts frames that the port took and could not send. */
export function withRefused<T extends MirrorStats | DirectionStats>(stats: T, port: FabricPort | undefined): T {
  const refused = Object.entries(port?.refused ?? {}).filter(([, frames]) => frames > 0);
  if (refused.length === 0) return stats;
  const dropped = { ...stats.dropped };
  let { sent } = stats;
  for (const [cause, frames] of refused) {
    dropped[cause] = (dropped[cause] ?? 0) + frames;
    sent -= frames;
  }
  return { ...stats, sent, dropped };
}
