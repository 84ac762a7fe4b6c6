/**
 * Machines are stopped so that they continue where they are when their project is opened again. They stay wanted: whenever the server dies,
 * either the machines run on, or they continue at the next opening.
 */
import type { LiveProject } from '../live/live-project.ts';
import { isAlwaysRunning } from '../live/nodes/node-runs.ts';
import type { FreezeReport } from './copy-files.ts';

/**
 * Saves the memory of a project's machines and stops them, while nothing changes. Answers the nodes that were stopped. @throws
 * `storage_failed`, and why it is not possible; they run on then
 */
export async function keepMemory(live: LiveProject): Promise<ReadonlySet<string>> {
  const { local } = live.computes;
  const running = [...live.nodes.all()].filter((node) => node.live.status !== 'stopped' && !isAlwaysRunning(node));
  if (running.length === 0) return new Set();
  await live.runs.wantRunning();
  // The local compute knows only projects of which it has a node.
  const hasLocal = running.some(({ compute }) => compute === local);
  const { memory, cold } = hasLocal ? await keepLocal(live) : { memory: [], cold: [] };
  const elsewhere = running
    .filter(({ compute }) => compute !== local)
    .map(({ entry: { name } }) => ({ name, reason: 'it runs on another compute' }));
  for (const { name, reason } of [...cold, ...elsewhere])
    live.notify('log.warning', { message: `${name} starts anew when the project is opened: ${reason}` });
  return new Set(memory.map(({ node_id }) => node_id));
}

/** Stops the nodes of this host that are not in `kept`. They stay wanted, and start anew with the next server. Never rejects. */
export async function stopOthers(live: LiveProject, kept: ReadonlySet<string>): Promise<void> {
  const others = [...live.nodes.all()].filter(({ id, compute }) => compute === live.computes.local && !kept.has(id));
  await Promise.allSettled(others.filter((node) => !isAlwaysRunning(node)).map(({ id }) => live.runs.halt(id)));
}

function keepLocal(live: LiveProject): Promise<Pick<FreezeReport, 'memory' | 'cold'>> {
  const path = { project_id: live.projectId };
  return live.computes.local.transport.call('POST /v2/compute/projects/{project_id}/keep', { path, timeoutMs: 0 });
}
