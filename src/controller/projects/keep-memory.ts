/**
 * Machines are stopped so that they continue where they are when their project is opened again. The list of what is to run then is written
 * before: whenever the server dies, either the machines run on, or they continue at the next opening.
 */
import type { LiveProject } from '../live/live-project.ts';
import { findKind } from '../model/node.ts';
import { removeResumeList, writeResumeList } from './resume-nodes.ts';

/** While nothing changes. Answers the nodes that were stopped. @throws why it is not possible; they run on then */
export async function keepMemory(live: LiveProject): Promise<ReadonlySet<string>> {
  const running = [...live.nodes.all()].filter(
    ({ entry, live: { status } }) => status !== 'stopped' && findKind(entry.node_type)?.alwaysRunning !== true,
  );
  if (running.length === 0) return new Set();
  await writeResumeList(
    live.folder,
    running.map(({ id }) => id),
  );
  try {
    const { memory, cold } = await live.computes.local.transport.call('POST /v2/compute/projects/{project_id}/keep', {
      path: { project_id: live.projectId },
      timeoutMs: 0,
    });
    for (const { name, reason } of cold)
      live.notify('log.warning', { message: `${name} starts anew when the project is opened: ${reason}` });
    return new Set(memory.map(({ node_id }) => node_id));
  } catch (error) {
    await removeResumeList(live.folder);
    throw error;
  }
}
