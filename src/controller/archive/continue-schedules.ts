/** Schedules of links that continue with their lab: each is where it was when the lab was frozen. */
import type { Topology } from '../model/topology.ts';

/** `frozenAt`: milliseconds since 1970; undefined: they stay as they are. */
export function continueSchedules(links: Topology['links'], frozenAt: number | undefined): Topology['links'] {
  if (frozenAt === undefined) return links;
  const passedMs = Math.max(0, Date.now() - frozenAt);
  return links.map((link) =>
    link.schedule ? { ...link, schedule: { ...link.schedule, started_at: link.schedule.started_at + passedMs } } : link,
  );
}
