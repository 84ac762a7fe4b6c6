/**
 * The runs of nodes: starting, stopping, suspending and reloading them, and what is wanted of them.
 *
 * Theory of operation. A request first writes what is wanted to the project's log, and then has it done, under the node's lock. A start that
 * is refused is withdrawn; one whose outcome is not known stays wanted, and `reconcile/` has it done when the compute answers.
 */
import { isDeepStrictEqual } from 'node:util';
import { isFault } from '../../../api/faults.ts';
import type { ComputeNodeRun } from '../../../schema/node-runs.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { findKind, type NodeObject } from '../../model/node.ts';
import { type WantedRun, wantedNext } from '../../model/wanted.ts';
import type { Commit, ProjectContext } from '../host/project-context.ts';
import { checkVerb, mayBeDone, type NodeVerb, requestVerb, withOutlook } from './node-verbs.ts';
import type { OpenNode } from './open-node.ts';
import type { ProjectNodes } from './project-nodes.ts';

interface ListUnderWay {
  /** Never rejects. */
  readonly ended: Promise<unknown>;
  /** The list that begins then. */
  next: Promise<void> | undefined;
}

export class NodeRuns {
  readonly #context: ProjectContext;
  readonly #nodes: ProjectNodes;
  readonly #lists = new Map<RegisteredCompute, ListUnderWay>();

  constructor(context: ProjectContext, nodes: ProjectNodes) {
    this.#context = context;
    this.#nodes = nodes;
  }

  /** Starts, stops, … a node for its user and returns it as it is then. @throws `storage_failed`, and what its compute refuses */
  act(nodeId: string, verb: NodeVerb, body: unknown = {}): Promise<NodeObject> {
    return this.#nodes.withNode(nodeId, async (node) => {
      checkVerb(node, verb);
      const before = node.wanted;
      await this.#wantFor(node, verb);
      const wasConnected = node.compute?.transport.state.connected === true;
      try {
        await this.#request(node, verb, body);
      } catch (error) {
        const isUnknown = wasConnected && mayBeDone(error);
        // Where that cannot be written, it is tried again, although its user was informed that it failed.
        if (node.wanted !== before && verb === 'start' && !isUnknown)
          await this.want([node], before.run, 'refused').catch(() => undefined);
        // A stock compute does not say by which start a node runs: one that runs on is wanted again.
        const staysWanted = verb === 'start' ? isUnknown : verb === 'stop' && node.compute?.hasNodeRuns;
        throw staysWanted ? withOutlook(error, verb) : error;
      } finally {
        // The node is looked at in any case: a stop that was answered may have failed, which is no error of the request.
        this.#nodes.changes.emit(node);
      }
      return node.object;
    });
  }

  /** Writes what is wanted of nodes, as one line of the log; nothing is done about it here. @throws `storage_failed` */
  async want(nodes: Iterable<OpenNode>, run: WantedRun['run'], by: WantedRun['by']): Promise<void> {
    const commits: Commit[] = [];
    for (const node of nodes) if (!isAlwaysRunning(node)) commits.push(commitOf(node, wantedNext(node.wanted, run, by)));
    await this.#context.commitAll(commits);
  }

  /** Writes that none of the nodes is to run any more. `by` says why. @throws `storage_failed` */
  async wantNone(by: WantedRun['by']): Promise<void> {
    await this.want(
      [...this.#nodes.all()].filter(({ wanted }) => wanted.run === 'running'),
      'stopped',
      by,
    );
  }

  /** All that run are wanted, also those that were started by other programs. @throws `storage_failed` */
  async wantRunning(): Promise<void> {
    const unknown = [...this.#nodes.all()].filter(({ live, wanted }) => live.status !== 'stopped' && wanted.run !== 'running');
    await this.want(unknown, 'running', 'adopted');
  }

  /** Stops a node without a change of what is wanted. `from`: to be moved from there; nothing happens when it is elsewhere. */
  halt(nodeId: string, from?: RegisteredCompute): Promise<void> {
    return this.#nodes.withNode(nodeId, async (node) => {
      if (node.live.status === 'stopped' || (from && node.compute !== from)) return;
      await this.#request(node, 'stop', {});
    });
  }

  /** Has a node started or stopped as it is wanted; its lock is held. @throws what its compute refuses */
  carryOut(node: OpenNode, verb: 'start' | 'stop'): Promise<void> {
    return this.#request(node, verb, {});
  }

  /**
   * Reads which starts the nodes of a compute run by, and how they ended. Callers who ask while a list is under way share the next one.
   * @throws what the compute answers
   */
  list(compute: RegisteredCompute): Promise<void> {
    if (!compute.hasNodeRuns) return Promise.resolve();
    const underWay = this.#lists.get(compute);
    if (!underWay) return this.#beginList(compute);
    underWay.next ??= underWay.ended.then(() => this.#beginList(compute));
    return underWay.next;
  }

  #beginList(compute: RegisteredCompute): Promise<void> {
    const listing = this.#readList(compute);
    const list: ListUnderWay = { ended: listing.catch(() => undefined), next: undefined };
    this.#lists.set(compute, list);
    void list.ended.then(() => {
      if (list.next === undefined) this.#lists.delete(compute);
    });
    return listing;
  }

  async #readList(compute: RegisteredCompute): Promise<void> {
    const of = [...this.#nodes.all()].filter((node) => node.compute === compute);
    const before = new Map(of.map((node) => [node, [node.live, node.run] as const]));
    const path = { project_id: this.#context.projectId };
    // A compute that could not be reached when the project was opened does not know it, and has no nodes of it.
    const unlessUnknown = (error: unknown) => (isFault(error) && error.status === 404 ? [] : Promise.reject(error));
    const runs = await compute.transport.call('GET /v2/compute/projects/{project_id}/nodes', { path }).catch(unlessUnknown);
    const found = new Map<string, ComputeNodeRun>(runs.map((run) => [run.node_id, run]));
    for (const [node, [live, run]] of before) {
      // A report that arrived meanwhile may be newer.
      if (node.compute !== compute || node.live !== live || node.run !== run) continue;
      const { status = 'stopped', generation, ending } = found.get(node.id) ?? {};
      // A start that failed has left no run of its number.
      const isOfNone = generation === undefined || (status === 'stopped' && !ending);
      const facts = { ...(!isOfNone && { generation }), ...(ending && { ending }) };
      if (isDeepStrictEqual(facts, run) && status === live.status) continue;
      node.run = facts;
      if (node.isPresent) this.#nodes.report({ node_id: node.id, status }, facts);
    }
  }

  /** Nothing is written for what is so already. */
  async #wantFor(node: OpenNode, verb: NodeVerb): Promise<void> {
    const { wanted, live } = node;
    const run = verb === 'start' ? 'running' : verb === 'stop' ? 'stopped' : undefined;
    const isSo = run === wanted.run && (run === 'stopped') === (live.status === 'stopped');
    if (run && !isSo) await this.want([node], run, 'client');
  }

  async #request(node: OpenNode, verb: NodeVerb, body: unknown): Promise<void> {
    if (verb === 'stop' && (!node.isPresent || node.compute?.isFenced)) return;
    if (!node.isPresent) await this.#nodes.place(node);
    const { generation } = node.wanted;
    const withGeneration = verb === 'start' && node.compute?.hasNodeRuns === true && !isAlwaysRunning(node);
    const request = () => requestVerb(this.#context, node, verb, { body, generation: withGeneration ? generation : undefined });
    await this.#nodes.refresh(node, request).catch((error: unknown) => {
      // The compute does not have the node (a deletion arrived late): the next attempt makes it there again.
      if (isFault(error) && error.status === 404) node.isPresent = false;
      throw error;
    });
    if (withGeneration && node.live.status !== 'stopped') node.run = { generation };
  }
}

/** The change of what is wanted of a node. */
export function commitOf(node: OpenNode, wanted: WantedRun): Commit {
  return {
    change: { action: 'node.wanted', event: { node_id: node.id, ...wanted }, was: null },
    apply: () => {
      node.wanted = wanted;
      return undefined;
    },
  };
}

export function isAlwaysRunning({ entry }: OpenNode): boolean {
  return findKind(entry.node_type)?.alwaysRunning === true;
}
