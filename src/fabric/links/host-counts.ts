/** Counters of the kernel that belong to links: those of redirected frames, and of frames that were lost in TAP interfaces. */
import type { KernelCounts } from '../kernel-paths/kernel-counters.ts';
import type { InterfacePlace, PlaceName } from '../ports/interface-place.ts';
import type { FabricPort } from '../ports/port.ts';
import type { DirectionStats, MirrorStats } from '../protocol.ts';

/** Counters of the kernel in a namespace. */
export interface HostCounts {
  readonly kernel: KernelCounts;
  /** Frames that each interface dropped instead of transmitting them. */
  readonly dropped: ReadonlyMap<string, number>;
}

export const noCounts: HostCounts = Object.freeze({ kernel: new Map(), dropped: new Map() });

/** Column of "drop" among those of transmitted frames, behind the name. @see proc_net_dev(5) */
const transmitDropColumn = 11;

/** Reads the drop counters of all interfaces at once. Rejects when they cannot be read. */
export async function readDropped(place: InterfacePlace): Promise<Map<string, number>> {
  const text = await place.readCounters();
  return new Map(
    text.split('\n').flatMap((line): [string, number][] => {
      const [name = '', figures] = line.split(':');
      return figures === undefined ? [] : [[name.trim(), Number(figures.trim().split(/\s+/)[transmitDropColumn])]];
    }),
  );
}

/** Adds two losses at TAP interfaces to the counters: frames lost in the queue of `source`, and frames that `sink` refused. */
export function withTapLosses(
  stats: DirectionStats,
  { source, sink }: { source: FabricPort | undefined; sink: FabricPort | undefined },
  counts: Readonly<Record<PlaceName, HostCounts>>,
): DirectionStats {
  const tap = source?.tap;
  const lost = tap?.lost(counts[tap.place].dropped.get(tap.name) ?? 0) ?? 0;
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
