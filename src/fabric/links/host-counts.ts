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
  const counted = withRefused(stats, sink);
  if (lost === 0) return counted;
  const queue_full = (counted.dropped.queue_full ?? 0) + lost;
  return { ...counted, received: counted.received + lost, dropped: { ...counted.dropped, queue_full } };
}

/** A port took them, and could not send them. */
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
