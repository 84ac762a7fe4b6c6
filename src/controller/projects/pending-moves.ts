/**
 * Live moves that were begun: one file for each in the project's folder, until nothing of the machine is left where it does not run. A move
 * is decided by the node's compute in the project's log; a server that finds a move that has not ended ends it by that. A node can have
 * several: of earlier moves, a compute that is away may still have the machine, paused.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { syncFolder, writeFileAtomic } from '../../lib/atomic-file.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { isUuid } from '../../schema/common.ts';
import type { NodeType } from '../../schema/node.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import { moveFiles, movePrefix } from '../live/nodes/move-files.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import { findKind } from '../model/node.ts';

export interface PendingMove {
  readonly node_id: string;
  readonly node_type: NodeType;
  /** Ids of computes. */
  readonly from: string;
  readonly to: string;
  /** The node was resumed at its new compute: from then on its user decides whether it runs. */
  readonly continued?: true;
  /** Its name in the project's folder. */
  readonly file: string;
}

const idLength = 36;
const largestFile = 4096;
const settledAtOnce = 4;

/** @throws what the disk says */
export async function beginMove(folder: string, move: Omit<PendingMove, 'file'>): Promise<PendingMove> {
  const begun = { ...move, file: `${movePrefix}${move.node_id}-${randomUUID()}.json` };
  await writeMove(folder, begun);
  return begun;
}

function writeMove(folder: string, { file, ...move }: PendingMove): Promise<void> {
  return writeFileAtomic(join(folder, file), JSON.stringify(move));
}

async function endMove(folder: string, { file }: PendingMove): Promise<void> {
  await rm(join(folder, file), { force: true });
  await syncFolder(folder);
}

/**
 * Moves of a server that has died, or that a compute was away from; no other is under way on the same node. `isRetry`: those with a compute
 * that is not connected wait until it is. Never rejects; false: one has failed.
 */
export async function settleMoves(live: LiveProject, { isRetry = false } = {}): Promise<boolean> {
  let areSettled = true;
  await forEachBounded(await moveFiles(live.folder), settledAtOnce, async (file) => {
    // Files of earlier versions have no id of the move.
    const nodeId = file.slice(movePrefix.length, movePrefix.length + idLength);
    await live.nodes.locks.run(nodeId, async () => {
      const move = await readMove(live.folder, file);
      if (!move || (isRetry && !areConnected(live, move))) return;
      const isSettled = await settleMove(live, move);
      areSettled &&= isSettled;
      if (!isSettled) return;
      live.notify('log.info', {
        message: `The move of node ${live.nodes.find(nodeId)?.entry.name ?? nodeId} was brought to its end`,
      });
    });
  });
  return areSettled;
}

function areConnected(live: LiveProject, { from, to }: PendingMove): boolean {
  return [from, to].every((id) => live.computes.find(id)?.transport.state.connected !== false);
}

/**
 * Earlier moves of a node that is about to move; its lock is held. Those that wait for another compute keep waiting.
 * @throws move_refused when `to` may still have the machine of one of them
 */
export async function settleBefore(live: LiveProject, node: OpenNode, to: RegisteredCompute): Promise<void> {
  for (const file of await moveFiles(live.folder, node.id)) {
    const move = await readMove(live.folder, file);
    if (!move || (await settleMove(live, move))) continue;
    if (![move.from, move.to].includes(to.id) || node.entry.compute_id === to.id) continue;
    await forget(live, move, to).catch((error: Error) => {
      const reason = `an earlier move has left its machine on ${to.record.name}: ${error.message}`;
      throw fault('move_refused', { name: node.entry.name, reason });
    });
  }
}

/** The lock of the node is held. Never rejects; false: it is tried again, when a compute is back that is away, or after a while. */
export async function settleMove(live: LiveProject, move: PendingMove): Promise<boolean> {
  const node = live.nodes.find(move.node_id);
  const [from, to] = [live.computes.find(move.from), live.computes.find(move.to)];
  // A node that was deleted, or is on a third compute meanwhile, is left at neither.
  const at = node?.entry.compute_id;
  let { continued } = move;
  try {
    if (node && at === move.to && !continued) {
      await continueThere(live, node, to);
      continued = true;
    }
    // The node is resumed before any step that can fail for other reasons.
    if (at === move.from && from) {
      await stay(live, move, from);
      await live.linkRecovery.rejoin(move.node_id);
    }
    if (at !== move.from) await forget(live, move, from);
    if (at !== move.to) await forget(live, move, to);
    await endMove(live.folder, move);
    live.unsettledMoves.settled(move.file);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const isRefused = areConnected(live, move);
    if (isRefused) live.unsettledMoves.tryAgain(() => settleMoves(live, { isRetry: true }));
    const isNew = live.unsettledMoves.failed(move.file, message);
    const waits = isRefused ? 'is tried again, after a second at first and then less and less often' : 'waits for its computes';
    if (isNew) live.notify('log.warning', { message: `The move of node ${node?.entry.name ?? move.node_id} ${waits}: ${message}` });
    if (continued && !move.continued) await writeMove(live.folder, { ...move, continued }).catch(() => undefined);
    return false;
  }
}

/** Continues a node at its new compute. A node that ended there stays stopped: it may have run and written. @throws the compute's error */
async function continueThere(live: LiveProject, node: OpenNode, to: RegisteredCompute | undefined): Promise<void> {
  if (!to) throw new Error(`the compute of ${node.entry.name} is not registered`);
  await live.announceTo(to);
  const now = await node.read();
  // Reports from before the node belonged to this compute were ignored.
  live.nodes.report(now);
  if (now.status === 'suspended') await node.act('resume', {});
}

async function stay(live: LiveProject, { node_id }: PendingMove, from: RegisteredCompute): Promise<void> {
  const path = { project_id: live.projectId, node_id };
  await from.transport.send('DELETE /v2/compute/projects/{project_id}/departures/{node_id}', { path }).catch(unlessMissing);
}

/** Nothing of it is left on this compute. @throws what it answers */
async function forget(
  live: LiveProject,
  { node_id, node_type }: PendingMove,
  compute: RegisteredCompute | undefined,
): Promise<void> {
  if (!compute) return;
  const path = { project_id: live.projectId, node_id };
  await compute.transport.send('DELETE /v2/compute/projects/{project_id}/arrivals/{node_id}', { path }).catch(unlessMissing);
  const key = `DELETE /v2/compute/projects/{project_id}/${node_type}/nodes/{node_id}` as const;
  await compute.transport.send(key, { path }).catch(unlessMissing);
}

function unlessMissing(error: unknown): void {
  if (!isFault(error) || error.status !== 404) throw error;
}

/** Undefined when it is damaged, or the move has ended. */
async function readMove(folder: string, file: string): Promise<PendingMove | undefined> {
  try {
    const move = JSON.parse(String(await readRegularFile(join(folder, file), largestFile))) as Partial<PendingMove>;
    const { node_id = '', node_type, from, to, continued } = move;
    const canMove = node_type !== undefined && findKind(node_type)?.can.liveMove === true;
    if (!isUuid(node_id) || !canMove || typeof from !== 'string' || typeof to !== 'string') return undefined;
    return { node_id, node_type, from, to, file, ...(continued === true && { continued }) };
  } catch {
    return undefined;
  }
}
