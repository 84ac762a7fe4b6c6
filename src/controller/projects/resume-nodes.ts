/**
 * Nodes that are to run when a project is opened next: those that ran when it was frozen. The list stands in the project's folder until
 * each of them was started, so that a server that dies in between continues. Links are held until all of them run: what one sends waits
 * for the others, behind what was in flight when the project was frozen.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { isUuid } from '../../schema/common.ts';
import { stagingPrefix } from '../../schema/folders.ts';
import type { LiveProject } from '../live/live-project.ts';

const listName = `${stagingPrefix}resume.json`;
/** Ten thousand nodes. */
const largestList = 1 << 19;

/** @throws what the disk says */
export function writeResumeList(folder: string, nodeIds: readonly string[]): Promise<void> {
  const file = join(folder, listName);
  return nodeIds.length === 0 ? rm(file, { force: true }) : writeFileAtomic(file, JSON.stringify(nodeIds));
}

export async function readResumeList(folder: string): Promise<string[]> {
  const list = await readRegularFile(join(folder, listName), largestList).catch(() => undefined);
  return list === undefined ? [] : idsIn(String(list));
}

/** Starts them; listeners are sent what fails. Never rejects. */
export async function resumeNodes(live: LiveProject): Promise<void> {
  const list = await readResumeList(live.folder);
  if (list.length === 0) return;
  const { transport } = live.computes.local;
  const path = { project_id: live.projectId };
  // Without a fabric they start all the same.
  await transport.send('POST /v2/compute/projects/{project_id}/links/hold', { path }).catch(() => undefined);
  const left: string[] = [];
  await forEachBounded(list, concurrency, async (nodeId) => {
    const node = live.nodes.find(nodeId);
    if (!node) return;
    // They are started when their slice returns.
    if (node.compute?.isAwaited) {
      left.push(nodeId);
      return;
    }
    await live.nodes.act(nodeId, 'start').catch((error: Error) => {
      live.notify('log.error', { message: `Node ${node.entry.name} could not be resumed: ${error.message}` });
    });
  });
  await transport.send('POST /v2/compute/projects/{project_id}/links/release', { path }).catch(() => undefined);
  await writeResumeList(live.folder, left).catch(() => undefined);
}

function idsIn(text: string): string[] {
  try {
    const ids: unknown = JSON.parse(text);
    return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === 'string' && isUuid(id)) : [];
  } catch {
    return [];
  }
}
