/**
 * Nodes that leave their compute: a client moves one, a slice was lost (its nodes are started again on others, from the last copies of their
 * files), or is drained. A machine that can is moved while it runs (`live-move.ts`); others are stopped, and their files come along.
 *
 * Theory of operation. A node that moves gets its new compute in the project's log, and its links are connected anew by the new end. Whether
 * it is to run stands in the same log, and `reconcile/` has it run there: here nothing is started but for that. Few are moved at a time, so
 * that hosts bear it. What cannot be moved now is tried again every few seconds (`unsettled-projects.ts`).
 */
import { isFault } from '../../api/faults.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import type { NodeMigration } from '../../schema/move.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { NodeCopies } from '../copies/node-copies.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import { settleMoves } from '../projects/pending-moves.ts';
import type { KnownProject } from '../projects/project.ts';
import type { KnownProjects } from '../projects/projects.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import type { FencedSlice } from '../slices/cluster.ts';
import type { Slices } from '../slices/slices.ts';
import { agesOf } from './copy-ages.ts';
import { NodeMoves } from './node-moves.ts';
import { isRunning, nodesOn } from './nodes-on.ts';
import { noRoomFor, type Placer } from './placer.ts';
import { deleteStray, removeStrays } from './strays.ts';
import { UnsettledProjects } from './unsettled-projects.ts';

export interface RelocationOptions {
  readonly projects: KnownProjects;
  readonly slices: Slices;
  readonly placer: Placer;
  readonly copies: NodeCopies;
  readonly reconciler: Reconciler;
  /** `min_free_bytes`. */
  readonly floorBytes: number;
  readonly log: Log;
}

/** A slice that loses its place. */
export interface Eviction {
  readonly stop: AbortSignal;
  /** A sentence. */
  readonly reason: string;
  readonly isAgain: boolean;
}

interface MovingAway {
  readonly stop: AbortSignal;
  /** Where to, by the ids of computes; absent: anywhere. */
  readonly isAllowed?: (computeId: string) => boolean;
  /** Absent: all nodes. */
  readonly isWanted?: (node: OpenNode) => boolean;
}

/** Nodes that are moved or started at a time. */
const rate = 4;

export class Relocation {
  readonly #options: RelocationOptions;
  readonly #draining = new Map<string, { readonly stop: AbortController; readonly end: Promise<void> }>();
  readonly #unsettled: UnsettledProjects;
  readonly #moves: NodeMoves;
  /** Slices that were asked to end: their epochs, by the ids of their computes. Nothing is started there. */
  readonly #ending = new Map<string, number | null>();

  constructor(options: RelocationOptions) {
    this.#options = options;
    const { placer, copies, floorBytes, log } = options;
    this.#moves = new NodeMoves({ placer, copies, floorBytes });
    this.#unsettled = new UnsettledProjects((projectId) => this.#settle(projectId), log);
  }

  /** For a client, as `NodeMoves.migrate`. */
  migrate(live: LiveProject, nodeId: string, to: RegisteredCompute): Promise<NodeMigration> {
    return this.#moves.migrate(live, nodeId, to);
  }

  /** The slice was asked to end: what it stops is started again with its next lease. */
  ending({ id, epoch }: RegisteredCompute): void {
    this.#ending.set(id, epoch);
  }

  isEnding({ id, epoch }: RegisteredCompute): boolean {
    return this.#ending.has(id) && this.#ending.get(id) === epoch;
  }

  /** Nothing of the slice runs any more. Never rejects. */
  async fenced({ compute, entry }: FencedSlice): Promise<void> {
    this.#ending.delete(compute.id);
    await this.#forEachOpen(async (live) => {
      if (nodesOn(live, compute).length === 0) return;
      this.#unsettled.add(live.projectId);
      // It may be back by now.
      if (compute.isFenced && compute.epoch === entry.epoch)
        for (const node of nodesOn(live, compute)) if (isRunning(node)) live.nodes.ended(node);
      // One that ended by itself, or that its engine places again, returns with its disks.
      if (this.#isLost(compute)) await this.#leave(live, compute, nodesOn(live, compute));
    });
  }

  /** What can be done now for nodes that wait. False: some are left. @throws storage_failed */
  async #settle(projectId: string): Promise<boolean> {
    const project = this.#options.projects.find(projectId);
    if (!project?.isOpen) return true;
    const settle = async (live: LiveProject) => {
      // What was frozen while this waited continues with the next server.
      if (this.#unsettled.isClosed) return true;
      for (const compute of live.usedComputes()) if (this.#isLost(compute)) await this.#leaveAsFar(live, compute);
      const isLinked = await live.linkRecovery.retry();
      return isLinked && !live.usedComputes().some((compute) => this.#isLost(compute));
    };
    return project.change(settle).catch((error: unknown) => {
      if (isFault(error, 'project_closed')) return true;
      throw error;
    });
  }

  /** One that an engine placed is placed again with its disks. */
  #isLost({ id }: RegisteredCompute): boolean {
    const entry = this.#options.slices.find(id);
    return entry?.state === 'lost' && !entry.order;
  }

  /** Nodes of a lost slice are made on other computes, and those that ran are started. */
  async #leave(live: LiveProject, compute: RegisteredCompute, nodes: readonly OpenNode[]): Promise<void> {
    if (nodes.length === 0) return;
    const moved: OpenNode[] = [];
    await forEachBounded(nodes, rate, async (node) => {
      if (await this.#moves.move(live, node, { from: compute, takeFiles: false })) moved.push(node);
    });
    if (moved.length === 0) return;
    live.forgetOn(compute);
    await forEachBounded(moved, rate, (node) => live.nodes.open(node, 'node.updated'));
    const message = `${moved.length} nodes of ${compute.record.name} were moved to other computes. ${agesOf(moved, this.#options.copies)}`;
    live.notify('log.warning', { message });
  }

  /** Those for which there is room now. */
  async #leaveAsFar(live: LiveProject, compute: RegisteredCompute): Promise<void> {
    const ready = nodesOn(live, compute).filter((node) => !node.isMoving && this.#options.placer.find(node.entry, compute));
    await this.#leave(live, compute, ready);
  }

  /** The compute answers again, and its nodes are there. Never rejects. */
  async returned(compute: RegisteredCompute): Promise<void> {
    await this.#forEachOpen(settleMoves);
    if (!this.#options.slices.find(compute.id)) return;
    await this.#forEachOpen(async (live) => {
      await removeStrays(live, compute);
      this.#unsettled.add(live.projectId);
    });
  }

  /** The compute answers again, and its nodes are not made there yet. Never rejects. */
  async returning(live: LiveProject, compute: RegisteredCompute): Promise<void> {
    if (!nodesOn(live, compute).some(({ id }) => this.#options.copies.isLost(id))) return;
    await this.#giveBack(live, compute).catch((error: Error) => live.notify('log.error', { message: error.message }));
  }

  /** The project is being opened; its nodes, of slices that were placed again meanwhile, are not made yet. Never rejects. */
  async opening(live: LiveProject): Promise<void> {
    for (const compute of live.usedComputes()) await this.returning(live, compute);
  }

  /** A project was made, opened, changed, closed or deleted. */
  follow(action: string, project: KnownProject): void {
    this.#options.copies.follow(action, project);
    if (action === 'project.opened') this.#unsettled.add(project.id);
  }

  /** The disks of the slice ended with its host: its nodes are sent the files of their last copies when they are made there. */
  async #giveBack(live: LiveProject, compute: RegisteredCompute): Promise<void> {
    const { copies } = this.#options;
    const lost = nodesOn(live, compute).filter(({ id }) => copies.isLost(id));
    live.forgetOn(compute);
    await live.announceTo(compute);
    const path = { project_id: live.projectId };
    const files = await compute.transport.call('GET /v2/compute/projects/{project_id}/files', { path });
    const present = new Set(files.map(({ path: file }) => file.split('/')[2]));
    const given: OpenNode[] = [];
    await forEachBounded(lost, rate, async (node) => {
      const give = async () => {
        if (present.has(node.id) || (await copies.place(live, node)) === null) return copies.found(node.id);
        node.isPresent = false;
        given.push(node);
      };
      await live.nodes.locks.run(node.id, give);
    });
    const message = `${compute.record.name} has lost the files of ${given.length} nodes. ${agesOf(given, copies)}`;
    if (given.length > 0) live.notify('log.warning', { message });
  }

  /** Moves the nodes of open projects with their files, in the background; the slice's object says how far that is. */
  beginDrain(compute: RegisteredCompute): void {
    const before = this.#draining.get(compute.id);
    if (before && !before.stop.signal.aborted) return;
    const stop = new AbortController();
    const drained = async () => {
      // Nodes that an ended drain was moving are moved first.
      await before?.end;
      await this.#drain(compute, stop.signal);
    };
    const end = drained()
      .catch((error: unknown) => this.#options.log.error({ err: error }, `${compute.record.name} could not be drained`))
      .finally(() => {
        if (this.#draining.get(compute.id)?.stop === stop) this.#draining.delete(compute.id);
      });
    this.#draining.set(compute.id, { stop, end });
  }

  /** Nodes that are being moved are moved to the end; the others stay. */
  endDrain(computeId: string): void {
    this.#draining.get(computeId)?.stop.abort();
  }

  /** The server is about to end: projects are frozen. */
  ends(): void {
    this.#options.reconciler.close();
    this.#unsettled.close();
  }

  /** Resolves when no drain is under way. */
  async close(): Promise<void> {
    this.ends();
    await Promise.all(Array.from(this.#draining.values(), ({ end }) => end));
  }

  async #drain(compute: RegisteredCompute, stop: AbortSignal): Promise<void> {
    const { slices } = this.#options;
    await slices.note(compute.id, 'its nodes are moved to other computes');
    const left = await this.#moveAway(compute, { stop });
    if (stop.aborted) return slices.note(compute.id, null);
    await slices.note(
      compute.id,
      left === 0 ? 'its nodes have been moved' : `${left} of its nodes stay: their projects were notified why`,
    );
  }

  /**
   * Moves the nodes of open projects to other slices, until the signal aborts; the project is notified of `reason`. `isAgain`: those for
   * which there was no room are tried when there is some. @returns how many stay. Never rejects
   */
  async evict(compute: RegisteredCompute, { stop, reason, isAgain }: Eviction): Promise<number> {
    // Nodes that a client's drain is moving are moved first.
    await this.#draining.get(compute.id)?.end;
    const { slices, placer } = this.#options;
    const isAllowed = (id: string) => slices.find(id) !== undefined;
    const isWanted = ({ entry }: OpenNode) => !isAgain || placer.find(entry, compute, isAllowed) !== undefined;
    if (!isAgain)
      await this.#forEachOpen(async (live) => {
        const message = `${compute.record.name}: ${reason} Its nodes are moved to other slices, or start again with it`;
        if (nodesOn(live, compute).length > 0) live.notify('log.warning', { message });
      });
    return this.#moveAway(compute, { stop, isAllowed, isWanted });
  }

  /** @returns how many of its nodes stay */
  async #moveAway(compute: RegisteredCompute, { stop, isAllowed, isWanted = () => true }: MovingAway): Promise<number> {
    let left = 0;
    const drain = async (live: LiveProject, node: OpenNode) => {
      // By its user.
      const isAway = () => live.nodes.find(node.id) !== node || node.entry.compute_id !== compute.id;
      if (stop.aborted || isAway()) return;
      try {
        if (isWanted(node) && (await this.#drainNode(live, node, compute, isAllowed))) return;
      } catch (error) {
        if (!isAway()) live.notify('log.error', { message: `Node ${node.entry.name}: ${(error as Error).message}` });
      }
      if (!isAway()) left += 1;
    };
    await this.#forEachOpenProject(async (project) => {
      const nodes = await project.change(async (live) => nodesOn(live, compute));
      // Who closes the project, or changes it alone, waits for those only that are being moved.
      await forEachBounded(nodes, rate, (node) => project.change((live) => drain(live, node)));
      // Also when it was stopped in between: its host takes work again. A slice that is about to end starts nothing.
      this.#unsettled.add(project.id);
      await project.change(async (live) => this.#options.reconciler.lookAtAll(project, live));
    });
    return left;
  }

  /** False: it stays, and listeners know why. */
  async #drainNode(
    live: LiveProject,
    node: OpenNode,
    compute: RegisteredCompute,
    isAllowed?: (computeId: string) => boolean,
  ): Promise<boolean> {
    const { node_type, properties, name } = node.entry;
    // Before anything is stopped.
    const to = this.#options.placer.find({ node_type, properties }, compute, isAllowed);
    if (!to) {
      const reason = isAllowed ? 'no other slice has room for it' : noRoomFor(node.entry).message;
      live.notify('log.error', { message: `Node ${name} stays on ${compute.record.name}: ${reason}` });
      return false;
    }
    if (isRunning(node) && (await this.#moves.movedLive(live, node, to))) return true;
    node.isLeaving = true;
    try {
      await live.runs.halt(node.id, compute);
      if (!(await this.#moves.move(live, node, { from: compute, to, takeFiles: true }))) return false;
      await live.nodes.open(node, 'node.updated');
    } finally {
      node.isLeaving = false;
    }
    // At once: another one of its project may take long to move.
    await this.#options.reconciler.settle(live, node);
    await deleteStray(live, node, compute);
    return true;
  }

  async #forEachOpen(work: (live: LiveProject) => Promise<unknown>): Promise<void> {
    await this.#forEachOpenProject((project) => project.change(work));
  }

  async #forEachOpenProject(work: (project: KnownProject) => Promise<unknown>): Promise<void> {
    const open = [...this.#options.projects.all()].filter((project) => project.isOpen);
    const errors = await forEachBounded(open, rate, work);
    // It was closed meanwhile.
    for (const error of errors.filter((each) => !isFault(each, 'project_closed')))
      this.#options.log.warn({ err: error }, 'nodes could not be relocated');
  }
}
