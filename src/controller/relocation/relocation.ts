/**
 * Moves nodes away from their compute, as a client asks for it or `reconcile/` has decided it: a slice was lost (its nodes start from the last
 * copies of their files), or is drained or evicted. A machine that can is moved while it runs (`live-move.ts`); others are stopped, and their
 * files come along.
 *
 * Theory of operation. A node that moves gets its new compute in the project's log, and its links are connected anew by the new end. Whether
 * it is to run stands in the same log, and `reconcile/` has it run there: here nothing is started but for that. Nothing of a move is stored
 * but that: after a restart of this server the same nodes are on the same drained slices.
 */
import { isFault } from '../../api/faults.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import type { NodeMigration } from '../../schema/move.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { NodeCopies } from '../copies/node-copies.ts';
import type { ProjectContext, UnmadeNode } from '../live/host/project-context.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import { needsOf } from '../placement/node-needs.ts';
import type { KnownProjects } from '../projects/projects.ts';
import type { LeaveReason } from '../reconcile/decide.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { deleteStray } from '../reconcile/strays.ts';
import type { FencedSlice } from '../slices/cluster.ts';
import type { Slices } from '../slices/slices.ts';
import { NodeMoves } from './node-moves.ts';
import { isRunning, nodesOn } from './nodes-on.ts';
import { noRoomFor, type Placer } from './placer.ts';

interface RelocationOptions {
  readonly projects: KnownProjects;
  readonly slices: Slices;
  readonly placer: Placer;
  readonly copies: NodeCopies;
  readonly reconciler: Reconciler;
  /** `min_free_bytes`. */
  readonly floorBytes: number;
  readonly log: Log;
  /** A node that was moved may be left on the compute. */
  readonly onLeft: (compute: RegisteredCompute) => void;
}

/** Projects in which nodes of a lost slice are noted at a time. */
const rate = 4;
/** Nodes of a lost slice that were moved within this time are reported together. Milliseconds. */
const reportMs = 1_000;

export class Relocation {
  readonly #options: RelocationOptions;
  readonly #moves: NodeMoves;
  /** Whether there is room for nodes, by their needs; valid for this turn of the event loop. */
  readonly #rooms = new Map<string, boolean>();
  /** Nodes of lost slices that are not reported yet, by what has happened to them. */
  readonly #reported = new Map<Pick<ProjectContext, 'notify'>, Map<string, UnmadeNode[]>>();
  #reporting: NodeJS.Timeout | undefined;

  constructor(options: RelocationOptions) {
    this.#options = options;
    const { copies, floorBytes, onLeft } = options;
    this.#moves = new NodeMoves(copies, floorBytes, onLeft);
  }

  /** The server is about to end: projects are frozen. */
  ends(): void {
    void this.close();
  }

  /** Resolves when no node is on its way. */
  close(): Promise<void> {
    return this.#options.reconciler.close();
  }

  /** Moves a node for a client, as `NodeMoves.migrate`. */
  migrate(live: LiveProject, nodeId: string, to: RegisteredCompute): Promise<NodeMigration> {
    return this.#moves.migrate(live, nodeId, to);
  }

  /** Has all nodes there looked at. */
  look(compute: RegisteredCompute): void {
    const { projects, reconciler } = this.#options;
    for (const project of projects.all()) {
      const { liveNow } = project;
      if (liveNow?.usedComputes().includes(compute)) void reconciler.lookAtAll(project, liveNow);
    }
  }

  notify(compute: RegisteredCompute, message: string): void {
    for (const { liveNow } of this.#options.projects.all())
      if (liveNow?.usedComputes().includes(compute)) liveNow.notify('log.warning', { message });
  }

  /** Nodes of open projects on a compute, and how many of them are being moved or about to be. */
  count(compute: RegisteredCompute): { left: number; moving: number } {
    const { projects, reconciler } = this.#options;
    let [left, moving] = [0, 0];
    for (const { liveNow } of projects.all())
      for (const node of liveNow?.nodes.all() ?? []) {
        const isMoving = reconciler.isMovingFrom(node, compute);
        if (isMoving) moving += 1;
        if (isMoving || node.compute === compute) left += 1;
      }
    return { left, moving };
  }

  /** State of a compute's drain, in words. */
  progressOf(compute: RegisteredCompute): string {
    const { left, moving } = this.count(compute);
    if (left === 0) return 'its nodes have been moved';
    return moving > 0 ? 'its nodes are moved to other computes' : `${left} of its nodes stay: their projects were notified why`;
  }

  /** Whether another compute can take the node now. */
  hasRoom(node: OpenNode, leaving: LeaveReason): boolean {
    const { node_type, properties, compute_id } = node.entry;
    const key = JSON.stringify([compute_id, node_type, leaving, needsOf(node_type, properties)]);
    const known = this.#rooms.get(key);
    if (known !== undefined) return known;
    if (this.#rooms.size === 0) setImmediate(() => this.#rooms.clear());
    const has = this.#find(node, leaving) !== undefined;
    this.#rooms.set(key, has);
    return has;
  }

  #find({ entry, compute }: OpenNode, leaving: LeaveReason): RegisteredCompute | undefined {
    const { slices, placer } = this.#options;
    const isAllowed = (id: string) => leaving !== 'evicted' || slices.find(id) !== undefined;
    return placer.find(entry, compute, isAllowed);
  }

  /** Moves a node to another compute, where the reconciler starts it if it should run. @throws why it stays */
  async move(live: LiveProject, node: OpenNode, leaving: LeaveReason): Promise<void> {
    const from = node.requireCompute();
    const to = this.#find(node, leaving);
    // The room is checked before anything is stopped.
    if (!to) throw noRoomFor(node.entry);
    if (leaving === 'lost') {
      await live.captures.keepOnMove(node.id, async () => {
        await this.#moves.move(live, node, { from, to, takeFiles: false });
        live.forgetOn(from);
        await live.nodes.open(node, 'node.updated');
      });
      this.#report(live, node, `of ${from.record.name} were moved to other computes`);
      return;
    }
    if (isRunning(node) && (await this.#moves.movedLive(live, node, to))) return;
    await live.captures.keepOnMove(node.id, () => this.#moveHalted(live, node, { from, to }));
  }

  async #moveHalted(live: LiveProject, node: OpenNode, { from, to }: Record<'from' | 'to', RegisteredCompute>): Promise<void> {
    node.isLeaving = true;
    try {
      await live.runs.halt(node.id, from);
      await this.#moves.move(live, node, { from, to, takeFiles: true });
      await live.nodes.open(node, 'node.updated');
    } finally {
      node.isLeaving = false;
    }
    await this.#options.reconciler.settle(live, node);
    await deleteStray(live, node.entry, { compute: from, keep_files: true }).catch(() => this.#options.onLeft(from));
  }

  /** Reports at most once a second what has happened to nodes. */
  #report(project: Pick<ProjectContext, 'notify'>, node: UnmadeNode, what: string): void {
    const nodes = this.#reported.get(project) ?? new Map<string, UnmadeNode[]>();
    this.#reported.set(project, nodes.set(what, [...(nodes.get(what) ?? []), node]));
    this.#reporting ??= setTimeout(() => {
      this.#reporting = undefined;
      for (const [reported, of] of this.#reported)
        for (const [happened, those] of of) {
          const message = `${those.length} nodes ${happened}. ${agesOf(those, this.#options.copies)}`;
          reported.notify('log.warning', { message });
        }
      this.#reported.clear();
    }, reportMs).unref();
  }

  /** Nothing of the slice runs any more. Never rejects. */
  async fenced({ compute, entry }: FencedSlice): Promise<void> {
    await this.#forEachOpen(async (live) => {
      // The slice may have joined again by now.
      if (compute.isFenced && compute.epoch === entry.epoch)
        for (const node of nodesOn(live, compute)) if (isRunning(node)) live.nodes.ended(node);
    });
    this.look(compute);
  }

  /** A slice that was placed again may have lost its disks: a node without files there gets those of its copy. @throws what it answers */
  async restoreFiles(project: Pick<ProjectContext, 'folder' | 'notify'>, node: UnmadeNode): Promise<void> {
    const { copies } = this.#options;
    if (!copies.isLost(node.id)) return;
    const { transport, record } = node.requireCompute();
    const path = { project_id: node.projectId };
    const files = await transport.call('GET /v2/compute/projects/{project_id}/files', { path });
    const isThere = files.some(({ path: file }) => file.split('/')[2] === node.id);
    if (isThere || (await copies.place(project, node)) === null) return copies.found(node.id);
    this.#report(project, node, `of ${record.name} have lost their files`);
  }

  async #forEachOpen(work: (live: LiveProject) => Promise<unknown>): Promise<void> {
    const open = [...this.#options.projects.all()].filter((project) => project.isOpen);
    const errors = await forEachBounded(open, rate, (project) => project.change(work));
    // The project was closed meanwhile.
    for (const error of errors.filter((each) => !isFault(each, 'project_closed')))
      this.#options.log.warn({ err: error }, 'nodes could not be relocated');
  }
}

/** Nodes in one message. */
const namedAtMost = 10;

/** The times of the copies from which nodes of a lost slice start, as a sentence. */
function agesOf(nodes: readonly UnmadeNode[], copies: Pick<NodeCopies, 'describe'>): string {
  const named = nodes.map(({ id, entry }) => ({ name: entry.name, from: copies.describe(id).started_from }));
  const copied = named.filter(({ from }) => from !== null);
  const shown = copied.slice(0, namedAtMost).map(({ name, from }) => `${name} ${from}`);
  const rest = copied.length > shown.length ? ` and ${copied.length - shown.length} more` : '';
  const without = nodes.length - copied.length;
  return [
    ...(copied.length > 0 ? [`They start from the last copies of their files: ${shown.join(', ')}${rest}.`] : []),
    ...(without > 0 ? [`${without} without a copy of their files start as new nodes.`] : []),
  ].join(' ');
}
