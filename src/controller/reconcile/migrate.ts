/**
 * Reads the nodes that are to run from files of earlier versions. The project's folder has a list of them; the server's folder has those
 * seen running on slices. Both are read when a project is opened, and stay on the disk for a return to that version.
 * It may go when no server of 0.2 is upgraded any more.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DurableMap } from '../../lib/durable-map.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { nullable, object, optional, text, whole } from '../../lib/shape.ts';
import { isUuid } from '../../schema/common.ts';
import { stagingPrefix } from '../../schema/folders.ts';
import type { LiveProject } from '../live/live-project.ts';
import { commitOf } from '../live/nodes/node-runs.ts';
import type { PendingMove } from '../model/wanted.ts';

const listName = `${stagingPrefix}resume.json`;
/** Files of an earlier version, one for each live move that was begun and has not ended. */
const moveName = new RegExp(`^${stagingPrefix.replaceAll('.', '\\.')}move-.*\\.json$`);
const runningName = 'running-nodes.log';
const shape = object({ project_id: text, compute_id: text, epoch: optional(nullable(whole())) });
const backup = (name: string) => `${name}.backup`;
/** A hundred thousand nodes. */
const largestList = 1 << 22;
const largestMove = 4096;

/** Nodes that an earlier version has seen running on slices, by the id of their project. */
export type EarlierRuns = ReadonlyMap<string, readonly string[]>;

/** Read once: what it says holds for projects that were open then. */
export async function readEarlierRuns(stateDirectory: string, warn: (message: string) => void): Promise<EarlierRuns> {
  const path = join(stateDirectory, runningName);
  const found = await readRegularFile(path, Number.MAX_SAFE_INTEGER).catch(() => undefined);
  if (!found) return new Map();
  const isEntry = (value: unknown) => shape.problem(value, 'the node') === undefined;
  const map = await DurableMap.open<{ readonly project_id: string }>(path, warn, isEntry);
  const runs = new Map<string, string[]>();
  for (const [nodeId, { project_id }] of map.entries()) runs.set(project_id, [...(runs.get(project_id) ?? []), nodeId]);
  await map.close();
  return runs;
}

/** All projects that were open have been opened by this version. @throws what the disk says */
export async function putAwayEarlierRuns(stateDirectory: string): Promise<void> {
  const path = join(stateDirectory, runningName);
  await rename(path, backup(path)).catch(unlessMissing);
}

/** The project was replaced by an older state of it. @throws what the disk says */
export function dropEarlierList(folder: string): Promise<void> {
  return rm(join(folder, listName), { force: true });
}

/**
 * Reads the moves that an earlier version has begun in the project. The nodes know them before they are made on their computes; `migrate`
 * writes them to the log. Never rejects.
 */
export async function takeEarlierMoves(live: LiveProject): Promise<void> {
  for (const name of await moveFilesIn(live.folder)) {
    const text = await readRegularFile(join(live.folder, name), largestMove).catch(() => undefined);
    const { node_id = '', move } = parsedMove(String(text ?? '')) ?? {};
    const node = live.nodes.find(node_id);
    if (!node || !move) continue;
    // The last of several moves has brought the machine to where it is; what others left on computes is removed from them.
    const { compute_id: at } = node.entry;
    const isLast = move.to === at || (move.from === at && node.wanted.move?.to !== at);
    if (isLast) node.wanted = { ...node.wanted, move };
  }
}

/** Makes them wanted. `ran`: on slices. Nothing happens to a project of this version. @throws `storage_failed` */
export async function migrate(live: LiveProject, ran: readonly string[] | undefined): Promise<void> {
  const isEarlier = await live.keepEarlierLog();
  const path = join(live.folder, listName);
  const listed = await readRegularFile(path, largestList).catch(() => undefined);
  const ids = new Set([...(listed ? idsIn(String(listed)) : []), ...((isEarlier && ran) || [])]);
  const nodes = [...live.nodes.all()].filter(({ id, wanted }) => ids.has(id) && wanted.run !== 'running');
  if (nodes.length > 0) await live.runs.want(nodes, 'running', 'adopted');
  if (listed) await rename(path, backup(path)).catch(unlessMissing);
  const moves = await moveFilesIn(live.folder);
  if (moves.length === 0) return;
  const moving = [...live.nodes.all()].filter(({ wanted }) => wanted.move);
  await live.changes.commitAll(moving.map((node) => commitOf(node, node.wanted)));
  for (const name of moves) await rename(join(live.folder, name), backup(join(live.folder, name))).catch(unlessMissing);
}

async function moveFilesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch((): string[] => [])).filter((name) => moveName.test(name));
}

/** Undefined for a file that is damaged. */
function parsedMove(text: string): { readonly node_id: string; readonly move: PendingMove } | undefined {
  try {
    const { node_id, from, to, continued } = JSON.parse(text) as Record<string, unknown>;
    if (typeof node_id !== 'string' || typeof from !== 'string' || typeof to !== 'string') return undefined;
    return { node_id, move: { from, to, ...(continued === true && { continued }) } };
  } catch {
    return undefined;
  }
}

function idsIn(list: string): string[] {
  try {
    const ids: unknown = JSON.parse(list);
    return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === 'string' && isUuid(id)) : [];
  } catch {
    return [];
  }
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
