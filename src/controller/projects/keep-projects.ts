/** The server is about to end: projects that are frozen when they are closed are frozen now. */
import { forEachBounded } from '../../lib/bounded.ts';
import type { KnownProject } from './project.ts';

/** Less than the 90 s in which systemd expects a service to end (`TimeoutStopSec`, in packaging/systemd and by default). */
const keepMs = 60_000;
/** Each takes the memory of its machines once more. */
const keptAtOnce = 2;

/**
 * Freezes the projects with `on_close` "freeze". A project that is not frozen in time runs on. `stopsNodes`: the server ends all nodes, so
 * those whose memory cannot be kept are stopped now, and start anew with the next server. Never rejects.
 */
export async function keepProjects(projects: Iterable<KnownProject>, stopsNodes: boolean): Promise<void> {
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, keepMs);
  const kept = forEachBounded([...projects], keptAtOnce, (project) => project.keep(stopsNodes));
  await Promise.race([kept, enough]);
  clearTimeout(timer);
}
