/**
 * Live moves that were begun: the project's log has one with what is wanted of its node, until nothing of the machine is left where it does
 * not run. A move is decided by the node's compute in the same log; one that was cut off is brought to its end by that. Machines of earlier
 * moves, on computes that are away, are removed when these are back (`strays.ts`).
 */
import { fault } from '../../api/faults.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import { commitOf } from '../live/nodes/node-runs.ts';
import { sendVerb } from '../live/nodes/node-verbs.ts';
import { type OpenNode, unlessMissing } from '../live/nodes/open-node.ts';
import { notWanted, type PendingMove, wantedNext } from '../model/wanted.ts';
import { deleteStray } from './strays.ts';

/**
 * Writes that a move was begun, or is at its end. A machine that is moved is wanted: what a user wants later has a higher generation.
 * @throws storage_failed
 */
export function noteMove(live: LiveProject, node: OpenNode, move: PendingMove | undefined): Promise<void> {
  const isUnknown = move && !move.continued && node.wanted.run !== 'running';
  const { move: _before, ...wanted } = isUnknown ? wantedNext(node.wanted, 'running', 'adopted') : node.wanted;
  return live.changes.commitAll([commitOf(node, { ...wanted, ...(move && { move }) })]);
}

/** Nothing of an earlier move is left there, and none is pending; the lock of the node is held. @throws move_refused */
export async function clearPlace(live: LiveProject, node: OpenNode, to: RegisteredCompute): Promise<void> {
  try {
    await settleMove(live, node);
    if (node.entry.compute_id !== to.id) await deleteStray(live, node.entry, { compute: to });
  } catch (error) {
    const reason = `an earlier move may have left its machine on ${to.record.name}: ${(error as Error).message}`;
    throw fault('move_refused', { name: node.entry.name, reason }, { cause: error });
  }
}

/** Brings the node's move to its end, if one is pending; the lock of the node is held. @throws what its computes answer */
export async function settleMove(live: LiveProject, node: OpenNode): Promise<void> {
  const { move } = node.wanted;
  if (!move) return;
  const { compute_id: at } = node.entry;
  if (at === move.to && !move.continued) await continueThere(live, node);
  // The node is resumed before any step that can fail for other reasons.
  if (at === move.from) await stay(live, node);
  try {
    for (const compute of [live.computes.find(move.from), live.computes.find(move.to)])
      if (compute && compute.id !== at && compute.transport.state.connected) await deleteStray(live, node.entry, { compute });
  } catch (error) {
    if (at === move.to && !move.continued) await noteMove(live, node, { ...move, continued: true }).catch(() => undefined);
    throw error;
  }
  await noteMove(live, node, undefined);
}

/**
 * Continues a node at its new compute, unless its user has stopped it meanwhile. A node that ended there stays stopped: it may have run and
 * written. @throws the compute's error
 */
async function continueThere(live: LiveProject, node: OpenNode): Promise<void> {
  await live.announceTo(node.requireCompute());
  const now = await node.read();
  // Reports from before the node belonged to this compute were ignored.
  live.nodes.report(now);
  if (now.status === 'stopped') return;
  // A move that an earlier version has begun does not say whether its node is wanted.
  const isUnknown = node.wanted.generation === notWanted.generation;
  if (node.wanted.run === 'stopped' && !isUnknown) await sendVerb(node, 'stop', {});
  else if (now.status === 'suspended') await resumeMoved(node);
}

/**
 * Has a machine run that has come from another compute. It is started by what is wanted: its compute would not know otherwise that a stop
 * which reaches it late is newer, nor that a run which has ended was this one. @throws the compute's error
 */
export async function resumeMoved(node: OpenNode): Promise<void> {
  const { generation, run } = node.wanted;
  if (!node.compute?.hasNodeRuns || run === 'stopped') await sendVerb(node, 'resume', {});
  else {
    await sendVerb(node, 'start', { generation });
    node.run = { generation };
  }
}

async function stay(live: LiveProject, node: OpenNode): Promise<void> {
  const path = { project_id: live.projectId, node_id: node.id };
  const { transport } = node.requireCompute();
  await transport.send('DELETE /v2/compute/projects/{project_id}/departures/{node_id}', { path }).catch(unlessMissing);
  await live.linkRecovery.rejoin(node.id);
}
