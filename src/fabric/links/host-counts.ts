/** Counters of the host that belong to links: those of redirected frames, and of frames that were lost in TAP interfaces. */
import { readFile } from 'node:fs/promises';
import type { KernelCounts } from '../kernel-paths/kernel-counters.ts';
import type { FabricPort } from '../ports/port.ts';
import type { DirectionStats, MirrorStats } from '../protocol.ts';

export interface HostCounts {
  readonly kernel: KernelCounts;
  /** Frames that each interface of the host dropped instead of transmitting them. */
  readonly dropped: ReadonlyMap<string, number>;
}

export const noCounts: HostCounts = Object.freeze({ kernel: new Map(), dropped: new Map() });

/** Column of "drop" among those of transmitted frames, behind the name. @see proc_net_dev(5) */
const transmitDropColumn = 11;

/** One reading for all interfaces. */
export async function readDropped(): Promise<Map<string, number>> {
  const text = await readFile('/proc/net/dev', 'latin1').catch(() => '');
  return new Map(
    text.split('\n').flatMap((line): [string, number][] => {
      const [name = '', figures] = line.split(':');
      return figures === undefined ? [] : [[name.trim(), Number(figures.trim().split(/\s+/)[transmitDropColumn])]];
    }),
  );
}

/** What came in at `source` was lost in its queue, or is refused by `sink`. */
export function withTapLosses(
  stats: DirectionStats,
  { source, sink }: { source: FabricPort | undefined; sink: FabricPort | undefined },
  dropped: ReadonlyMap<string, number>,
): DirectionStats {
  const lost = source?.tap?.lost(dropped.get(source.tap.name) ?? 0) ?? 0;
  const refused = sink?.tap?.refused ?? 0;
  if (lost + refused === 0) return stats;
  return {
    ...stats,
    received: stats.received + lost,
    sent: stats.sent - refused,
    dropped: { ...stats.dropped, queue_full: (stats.dropped.queue_full ?? 0) + lost + refused },
  };
}

/** A mirror's TAP interface refuses frames, too. */
export function withRefused(stats: MirrorStats, { tap }: FabricPort): MirrorStats {
  const refused = tap?.refused ?? 0;
  if (refused === 0) return stats;
  const queue_full = (stats.dropped.queue_full ?? 0) + refused;
  return { ...stats, sent: stats.sent - refused, dropped: { ...stats.dropped, queue_full } };
}
