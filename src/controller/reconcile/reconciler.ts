/**
 * Has nodes run as they are wanted, and where they can be: when their project is opened, when they have a place again, when their slice is
 * lost, drained or evicted, and when a request was cut off.
 *
 * Theory of operation. An event says which node to look at, and nothing else. `decide` compares what is wanted with what was observed, and
 * the answer is carried out under the node's lock, where it is decided once more: whatever came in between counts. What has to wait is
 * looked at again every two seconds. A few nodes of a project at a time are started, so that hosts bear it; which ones have to wait for a
 * turn is not stored, as `decide` finds them again.
 */
import { isDeepStrictEqual } from 'node:util';
import { concurrency, forEachBounded, Limit } from '../../lib/bounded.ts';
import type { Log } from '../../lib/log.ts';
import { waitAfter } from '../../lib/retry.ts';
import { mapInTurns, Turns } from '../../lib/turns.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import { isInOwnFabric, makingConcurrency } from '../live/bulk.ts';
import type { LiveProject } from '../live/live-project.ts';
import { isAlwaysRunning } from '../live/nodes/node-runs.ts';
import { isOfCompute } from '../live/nodes/node-verbs.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import type { WaitCause } from '../live/nodes/waiting.ts';
import { type Decision, decide, decidePlace } from './decide.ts';
import { type EarlierRuns, migrate, putAwayEarlierRuns, readEarlierRuns } from './migrate.ts';
import { type ComputePlaces, isOfNow, observe, observePlace } from './observe.ts';
import { settleMove } from './pending-moves.ts';

interface ReconciledProject {
  readonly id: string;
  /** Undefined while it is not open. */
  readonly liveNow: LiveProject | undefined;
  change<T>(fn: (live: LiveProject) => Promise<T>): Promise<T>;
}

type WaitDecision = Extract<Decision, { do: 'wait' }>;

const everyMs = 2_000;
/** All nodes of open projects are looked at, should an event have been missed. */
const everyNodeMs = 60_000;
/** Nodes of a project that are started at a time once it is open. */
const rate = 4;
/** Longest time that the opening of a project waits for computes that are busy or cannot be reached. */
const openingMs = 50_000;
const soon = { firstMs: 500, longestMs: 5_000 };
const later = { firstMs: 2_000, longestMs: 300_000 };
/** Listeners are sent the reason of a failed start on a slice at this attempt. */
const reportedFailure = 3;

/** Decisions about computes that are made elsewhere, and the operation that moves a node. */
export interface Moves extends ComputePlaces {
  /** Moves a node to another compute. @throws why it stays */
  readonly move: (live: LiveProject, node: OpenNode) => Promise<void>;
}

/** Nodes of a project that are to be looked at. */
interface Dirty {
  readonly project: ReconciledProject;
  readonly ids: Set<string>;
  isRunning: boolean;
  /** Some of its links could not be connected, or may not have been. */
  hasLinks: boolean;
  /** A few nodes are moved at a time, while others start. By id: the computes that they leave. */
  readonly moving: Map<string, RegisteredCompute | undefined>;
  readonly moves: Limit;
}

export class Reconciler {
  readonly #log: Log;
  readonly #stateDirectory: string;
  readonly #earlierRuns: EarlierRuns;
  /** Nodes to look at, by the id of their project. */
  readonly #dirty = new Map<string, Dirty>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Moves that are under way. */
  readonly #movesUnderWay = new Set<Promise<void>>();

  places: Moves = { isEnding: () => false, leavingOf: () => 'no', hasRoom: () => false, move: async () => undefined };

  constructor(log: Log, stateDirectory: string, earlierRuns: EarlierRuns) {
    this.#log = log;
    this.#stateDirectory = stateDirectory;
    this.#earlierRuns = earlierRuns;
  }

  static async open(stateDirectory: string, log: Log): Promise<Reconciler> {
    const earlierRuns = await readEarlierRuns(stateDirectory, (message) => log.error(message));
    return new Reconciler(log, stateDirectory, earlierRuns);
  }

  /** The project is being opened, perhaps for the first time by this version. @throws `storage_failed` */
  migrate(live: LiveProject): Promise<void> {
    return migrate(live, this.#earlierRuns.get(live.projectId));
  }

  /** All projects that were open have been opened by this version. */
  haveAllMigrated(): void {
    putAwayEarlierRuns(this.#stateDirectory).catch((error: Error) =>
      this.#log.warn({ err: error }, 'a file of an earlier version stays'),
    );
  }

  /** Looks at the project's nodes now, and whenever something of them changes. */
  #follow(project: ReconciledProject, live: LiveProject): void {
    live.nodes.changes.subscribe((node) => {
      if (project.liveNow === live && this.#decideAndShow(live, node).do !== 'nothing') this.look(project, node.id);
    });
    live.linkRecovery.doubts.subscribe(() => {
      if (project.liveNow === live) this.#dirtyOf(project).hasLinks = true;
    });
    void this.lookAtAll(project, live);
    const timer = setInterval(() => {
      if (project.liveNow !== live || this.#isClosed) clearInterval(timer);
      else void this.lookAtAll(project, live);
    }, everyNodeMs).unref();
  }

  /** Something of the project's computes changed. Never rejects. */
  async lookAtAll(project: ReconciledProject, live: LiveProject): Promise<void> {
    this.#dirtyOf(project).hasLinks = true;
    const turns = new Turns();
    for (const node of live.nodes.all()) {
      if (this.#decideAndShow(live, node).do !== 'nothing') this.look(project, node.id);
      if (!turns.isOver) continue;
      await turns.next();
      if (project.liveNow !== live || this.#isClosed) return;
    }
  }

  look(project: ReconciledProject, nodeId: string): void {
    if (this.#isClosed) return;
    const dirty = this.#dirtyOf(project);
    dirty.ids.add(nodeId);
    if (!dirty.isRunning) void this.#run(dirty);
  }

  #dirtyOf(project: ReconciledProject): Dirty {
    const known = this.#dirty.get(project.id);
    if (known) return known;
    const ids = new Set<string>();
    const dirty: Dirty = { project, ids, isRunning: false, hasLinks: false, moving: new Map(), moves: new Limit(rate) };
    this.#dirty.set(project.id, dirty);
    if (!this.#isClosed) this.#timer ??= setInterval(() => this.#lookAgain(), everyMs).unref();
    return dirty;
  }

  /** Whether the node is on its way from there to another compute, or is about to be. */
  isMovingFrom(node: OpenNode, compute: RegisteredCompute): boolean {
    if (this.#dirty.get(node.projectId)?.moving.get(node.id) === compute) return true;
    return node.compute === compute && decidePlace(observePlace(node, this.places), performance.now()).do === 'move';
  }

  /**
   * Has the nodes of a project that was opened just now run as they are wanted, from now on. Answers when each of them runs or has failed.
   * Their links are held until then: what one sends waits for the others, behind what was in flight when the project was frozen. Never
   * rejects.
   */
  async follow(project: ReconciledProject, live: LiveProject): Promise<void> {
    const decisions = await mapInTurns([...live.nodes.all()], (node) => ({ node, what: this.#decide(node).do }));
    const due = decisions.flatMap(({ node, what }) => (['list', 'settle', 'start'].includes(what) ? [node] : []));
    const { transport } = live.computes.local;
    const path = { project_id: live.projectId };
    const release = () => transport.send('POST /v2/compute/projects/{project_id}/links/release', { path }).catch(() => undefined);
    if (due.every(({ wanted }) => wanted.by === 'auto_start')) {
      // A server that died when the nodes ran, and before it released the links, has left what was in flight in them.
      await release();
      return this.#follow(project, live);
    }
    // A compute without a fabric cannot hold links; its nodes start all the same.
    await transport.send('POST /v2/compute/projects/{project_id}/links/hold', { path }).catch(() => undefined);
    this.#follow(project, live);
    const until = performance.now() + openingMs;
    const settle = (node: OpenNode) => this.#settle(live, node, until);
    const isCheap = ({ entry }: OpenNode) => isInOwnFabric(entry);
    await Promise.all([
      forEachBounded(due.filter(isCheap), makingConcurrency, settle),
      forEachBounded(
        due.filter((node) => !isCheap(node)),
        concurrency,
        settle,
      ),
    ]);
    await release();
  }

  /** Has a node run as it is wanted now, without the timer. @returns whether that is done */
  async settle(live: LiveProject, node: OpenNode): Promise<boolean> {
    await this.#settle(live, node, 0);
    return this.#decide(node).do === 'nothing';
  }

  /** The server is about to end: nothing is begun any more. Starts may take long. Resolves when nothing is moved any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#isClosed = true;
    await Promise.all(this.#movesUnderWay);
  }

  #decide(node: OpenNode): Decision {
    const now = performance.now();
    if (isAlwaysRunning(node)) return decidePlace(observePlace(node, this.places), now);
    return decide(node.wanted, observe(node, this.places), now);
  }

  #lookAgain(): void {
    for (const dirty of this.#dirty.values()) if (!dirty.isRunning) void this.#run(dirty);
    if (this.#dirty.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Nodes that have to wait stay dirty. */
  async #run(dirty: Dirty): Promise<void> {
    const { project } = dirty;
    dirty.isRunning = true;
    const waiting = new Set<string>();
    try {
      while (dirty.ids.size > 0 && !this.#isClosed) {
        const ids = [...dirty.ids];
        dirty.ids.clear();
        const { liveNow } = project;
        const ready = ids.filter((id) => {
          const node = liveNow?.nodes.find(id);
          const decision = liveNow && node ? this.#decideAndShow(liveNow, node) : undefined;
          if (decision?.do === 'wait') waiting.add(id);
          if (liveNow && node && decision?.do === 'move') {
            this.#beginMove(dirty, liveNow, node);
            return false;
          }
          return decision && decision.do !== 'wait' && decision.do !== 'nothing';
        });
        // A request that closes the project, or changes it alone, waits for those only that are under way.
        const step = (id: string) => project.change((live) => this.#step(live, live.nodes.find(id)));
        await forEachBounded(ready, rate, async (id) => {
          await step(id);
          waiting.add(id);
        });
      }
      if (dirty.hasLinks) dirty.hasLinks = !(await this.#retryLinks(project));
    } catch (error) {
      this.#log.warn({ err: error }, `nodes of project ${project.id} wait`);
    } finally {
      dirty.isRunning = false;
    }
    for (const id of waiting) {
      const { liveNow } = project;
      const node = liveNow?.nodes.find(id);
      if (liveNow && node && this.#decideAndShow(liveNow, node).do !== 'nothing') dirty.ids.add(id);
    }
    if (dirty.ids.size === 0 && dirty.moving.size === 0 && !dirty.hasLinks) this.#dirty.delete(project.id);
  }

  /** Links of slices that could not be connected. @returns whether none is left */
  async #retryLinks({ liveNow }: ReconciledProject): Promise<boolean> {
    return this.#isClosed || !liveNow || (await liveNow.linkRecovery.retry());
  }

  /** Nodes that start do not wait for it. */
  #beginMove(dirty: Dirty, live: LiveProject, node: OpenNode): void {
    const { project, moving } = dirty;
    if (moving.has(node.id) || this.#isClosed) return;
    moving.set(node.id, node.compute);
    // A request that closes the project, or changes it alone, waits for those only that are under way.
    const move = () => project.change((now) => (now === live ? this.#move(live, node) : Promise.resolve()));
    const done = dirty.moves
      .run(move)
      .catch(() => undefined)
      .finally(() => {
        moving.delete(node.id);
        this.#movesUnderWay.delete(done);
        this.look(project, node.id);
      });
    this.#movesUnderWay.add(done);
  }

  async #move(live: LiveProject, node: OpenNode): Promise<void> {
    // The move may have waited long for its turn.
    if (this.#isClosed || live.nodes.find(node.id) !== node || this.#decide(node).do !== 'move') return;
    const { compute, failedMove } = node;
    const epoch = compute?.epoch;
    const isLost = node.compute?.isFenced === true;
    try {
      await this.places.move(live, node);
      node.failedMove = undefined;
    } catch (error) {
      // The node was deleted, moved or lost meanwhile.
      if (live.nodes.find(node.id) !== node || node.compute !== compute || compute?.epoch !== epoch) return;
      const { message: reason } = error as Error;
      const before = failedMove?.compute === compute && failedMove?.epoch === epoch ? failedMove : undefined;
      const count = (before?.count ?? 0) + 1;
      // A node that runs is stopped for each attempt, so its attempts are rare, unless a compute could not be asked.
      const isSoon = isLost || isOfCompute(error);
      const pauseMs = isSoon ? waitAfter(later, count) : later.longestMs;
      node.failedMove = { compute, epoch, count, reason, notBefore: performance.now() + pauseMs };
    }
  }

  /** Shows what the node waits for. While something is done about it, what it waited for before stays. */
  #decideAndShow(live: LiveProject, node: OpenNode): Decision {
    const decision = this.#decide(node);
    const { waitCause, problem } = node;
    if (decision.do !== 'wait' && decision.do !== 'nothing') return decision;
    // The problem of its compute says more than that this one is waited for.
    const says = decision.do === 'wait' && (problem === undefined || !this.#isOfReach(node, decision));
    const cause = says ? { reason: decision.why, attempts: decision.failed?.count ?? 0 } : undefined;
    if (isDeepStrictEqual(cause, waitCause)) return decision;
    live.nodes.setProblem(node, { waitCause: cause });
    if (decision.do === 'wait' && this.#isNews(node, decision, waitCause))
      live.notify('log.error', { message: `Node ${node.entry.name}: ${decision.why}` });
    return decision;
  }

  /** Whether listeners are sent the reason: an absent compute is known to them, and a slice's host may have had too much to do before. */
  #isNews(node: OpenNode, wait: WaitDecision, before: WaitCause | undefined): boolean {
    const { failedStart, compute } = node;
    const { why, failed } = wait;
    if (failed && failed === failedStart)
      return !failedStart.isOfCompute && failed.count === (compute?.epoch ? reportedFailure : 1);
    return before?.reason !== why && !this.#isOfReach(node, wait);
  }

  #isOfReach(node: OpenNode, { failed }: WaitDecision): boolean {
    return failed === undefined && observePlace(node, this.places).leaving === 'no';
  }

  /** Takes steps until the node is as it is wanted, waits for something else than its compute, or the time is over. Never rejects. */
  async #settle(live: LiveProject, node: OpenNode, until: number): Promise<void> {
    // A list, what is wanted, a start, and once more what ended at once.
    for (let steps = 0; steps < 100 && !this.#isClosed; steps++) {
      const decision = this.#decide(node);
      const isBusyCompute =
        decision.do === 'wait' && decision.failed === node.failedStart && node.failedStart?.isOfCompute === true;
      if (decision.do === 'nothing' || decision.do === 'move' || (decision.do === 'wait' && !isBusyCompute)) return;
      if (decision.do !== 'wait') await this.#step(live, node);
      else if (performance.now() >= until) return;
      else await new Promise((resolve) => setTimeout(resolve, (decision.failed?.notBefore ?? 0) - performance.now()).unref());
    }
  }

  /** Carries out one decision. Never rejects. */
  async #step(live: LiveProject, node: OpenNode | undefined): Promise<void> {
    if (!node) return;
    await live.nodes.locks.run(node.id, async () => {
      // The node may have been deleted or changed while this step waited for its lock.
      if (live.nodes.find(node.id) !== node || this.#isClosed) return;
      const { generation, compute, epoch } = { ...node.wanted, compute: node.compute, epoch: node.compute?.epoch };
      try {
        const decision = this.#decide(node);
        // A node that has to wait since another attempt failed keeps waiting.
        if (decision.do === 'wait' || decision.do === 'move') return;
        await this.#carryOut(live, node, decision);
        if (decision.do === 'stop' && node.live.status !== 'stopped') throw new Error('it could not be stopped');
        node.failedStart = undefined;
      } catch (error) {
        // The node's compute may have been lost meanwhile, or its user has changed his mind.
        if (isOfNow(node, { generation, compute, epoch }) && compute?.isFenced !== true) this.#failed(live, node, error as Error);
      }
    });
  }

  async #carryOut(live: LiveProject, node: OpenNode, decision: Decision): Promise<void> {
    if (decision.do === 'settle') {
      await settleMove(live, node);
      live.notify('log.info', { message: `The move of node ${node.entry.name} was brought to its end` });
    }
    if (decision.do === 'list' && node.compute) await live.runs.list(node.compute);
    // An event may have come later than the answer to a start or stop: the compute is asked whether the node runs.
    if (decision.do === 'want' && node.compute) await live.runs.list(node.compute).catch(() => undefined);
    if (decision.do === 'want' && !isDeepStrictEqual(this.#decide(node), decision)) return;
    if (decision.do === 'want') await live.runs.want([node], decision.run, decision.by);
    else if (decision.do === 'make') await live.nodes.place(node);
    else if (decision.do === 'start' || decision.do === 'stop') await live.runs.carryOut(node, decision.do);
  }

  #failed(live: LiveProject, node: OpenNode, error: Error): void {
    const { compute, failedStart, wanted } = node;
    const isBusy = isOfCompute(error);
    const count = (failedStart && isOfNow(node, failedStart) ? failedStart.count : 0) + 1;
    const notBefore = performance.now() + waitAfter(isBusy ? soon : later, count);
    const reason = error.message;
    node.failedStart = {
      generation: wanted.generation,
      compute,
      epoch: compute?.epoch,
      count,
      notBefore,
      reason,
      isOfCompute: isBusy,
    };
    this.#decideAndShow(live, node);
  }
}
