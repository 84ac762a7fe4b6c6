/** Moves one node: a machine while it runs (`live-move.ts`), others while they are stopped, with their files or with the last copies of these. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import type { NodeMigration } from '../../schema/move.ts';
import { fetchFolders } from '../archive/remote-files.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { NodeCopies } from '../copies/node-copies.ts';
import type { LiveProject } from '../live/live-project.ts';
import { type OpenNode, unlessMissing } from '../live/nodes/open-node.ts';
import { findKind } from '../model/node.ts';
import { clearPlace } from '../reconcile/pending-moves.ts';
import { deleteStray } from '../reconcile/strays.ts';
import { findObstacle, LiveMove } from './live-move.ts';
import { isRunning, whileMoving } from './nodes-on.ts';

interface Move {
  readonly from: RegisteredCompute;
  readonly to: RegisteredCompute;
  /** Whether the node's files are fetched first; the node must not run then. */
  readonly takeFiles: boolean;
}

export class NodeMoves {
  readonly #copies: NodeCopies;
  /** Stays free where files of nodes pass through. */
  readonly #floorBytes: number;
  /** A node that was moved may be left on the compute. */
  readonly #onLeft: (compute: RegisteredCompute) => void;

  constructor(copies: NodeCopies, floorBytes: number, onLeft: (compute: RegisteredCompute) => void) {
    this.#copies = copies;
    this.#floorBytes = floorBytes;
    this.#onLeft = onLeft;
  }

  /**
   * A running machine continues there, and other nodes are moved with their files while they are stopped. Answers when it is there.
   * @throws move_refused, and what the computes answer: it is where it was, if that could be reached
   */
  async migrate(live: LiveProject, nodeId: string, to: RegisteredCompute): Promise<NodeMigration> {
    const node = live.nodes.get(nodeId);
    if (isRunning(node)) return this.#moveLive(live, node, to);
    const from = node.requireCompute();
    const begun = performance.now();
    if (from === to) throw fault('move_refused', { name: node.entry.name, reason: `it is on ${to.record.name} already` });
    await live.captures.keepOnMove(node.id, async () => {
      await this.move(live, node, { from, to, takeFiles: true }).catch((error: Error) => {
        // The node was started while this move waited for it, or its files cannot be kept here.
        throw isFault(error) ? error : fault('move_refused', { name: node.entry.name, reason: error.message }, { cause: error });
      });
      await live.nodes.open(node, 'node.updated');
      if (node.problem !== undefined) live.notify('log.error', { message: `Node ${node.entry.name} was moved: ${node.problem}` });
      await deleteStray(live, node.entry, { compute: from, keep_files: true }).catch(() => this.#onLeft(from));
    });
    return { node: node.object, live: false, paused_ms: 0, total_ms: Math.round(performance.now() - begun), links: [] };
  }

  /** @throws move_refused, and what the computes answer */
  #moveLive(live: LiveProject, { id }: OpenNode, to: RegisteredCompute): Promise<NodeMigration> {
    return live.nodes.locks.run(id, () => {
      const node = live.nodes.get(id);
      const obstacle = findObstacle(live, node, to);
      if (obstacle !== undefined) throw fault('move_refused', { name: node.entry.name, reason: obstacle });
      return whileMoving(node, () => new LiveMove(live, node, to).run()).finally(() => live.nodes.changes.emit(node));
    });
  }

  /** False: it has to be stopped. */
  async movedLive(live: LiveProject, node: OpenNode, to: RegisteredCompute): Promise<boolean> {
    try {
      await this.#moveLive(live, node, to);
      return true;
    } catch (error) {
      if (!isFault(error, 'move_refused')) throw error;
      // The node's user has stopped it meanwhile.
      if (isRunning(node)) live.notify('log.info', { message: `${error.message}. It is stopped, and started again` });
      return false;
    }
  }

  /** Moves a node that does not run. @throws why it stays */
  async move(live: LiveProject, node: OpenNode, { from, to, takeFiles }: Move): Promise<void> {
    const prepare = async () => {
      if (node.entry.compute_id !== from.id) throw new Error('it was moved meanwhile');
      await clearPlace(live, node, to);
      if (takeFiles) {
        // A report that another program has started it may be on its way, and so may be the first answer of a compute that was away. A
        // change of nothing waits until a start that is under way there is over; GNS3's computes make a container anew for it.
        await live.nodes
          .refresh(node, () => (from.isStock ? node.read() : node.update({})))
          .catch((error: unknown) => (node.isPresent ? Promise.reject(error) : unlessMissing(error)));
        if (isRunning(node)) throw new Error('it runs: it could not be stopped, or was started again');
        // Files on the compute in this process are in this folder already.
        const wanted = { compute: from, projectId: live.projectId, nodes: [node.id], floorBytes: this.#floorBytes };
        if (!from.isLocal) await fetchFolders(wanted, live.folder);
      } else {
        await this.#copies.place(live, node);
        await writeCarriedFile(live, node);
      }
      await live.linkRecovery.release(node.id);
    };
    await live.nodes.move(node.id, to, prepare);
  }
}

/**
 * Writes the file that gives a node its address among other nodes, such as its hardware address, in place of its lost folder. The new
 * compute is sent this file. Without it the node works as well, under another address. Never rejects.
 */
async function writeCarriedFile(live: LiveProject, { id, entry, live: { command_line } }: OpenNode): Promise<void> {
  const { carriedFile, folder = '' } = findKind(entry.node_type) ?? {};
  const text = typeof command_line === 'string' ? carriedFile?.from(command_line) : undefined;
  if (!carriedFile || text === undefined) return;
  const own = join(live.folder, 'project-files', folder, id);
  try {
    await mkdir(own, { recursive: true });
    // A file that lies here already is the node's own.
    await writeFile(join(own, carriedFile.name), text, { flag: 'wx' });
  } catch {
    // The file exists, or the disk is full.
  }
}
