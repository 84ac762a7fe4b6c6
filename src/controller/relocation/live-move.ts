/**
 * A running node that continues on another compute of ours.
 *
 * Theory of operation. The machine is started there without its memory, its links are joined there, its disks are mirrored, and its memory
 * is sent while it runs. It is paused; the rest is sent, and the other ends of its links are joined to the new place. Now it is complete at
 * both computes and runs at neither. The node's compute in the project's log decides: one record makes it, with the links', durable. Then it
 * continues there, and is removed here. Whatever fails before the record, it continues here; whatever fails after it, it continues there
 * (`pending-moves.ts`), also when this server dies in between: it is never started at one place before the other one can no longer run it.
 */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { fault, isFault } from '../../api/faults.ts';
import { consoleStream, type MovedLink, memoryStream, type NodeMigration } from '../../schema/move.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { NodeLinks } from '../live/links/link-moves.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import { type ComputeNodeObject, findKind } from '../model/node.ts';
import { clearPlace, noteMove, resumeMoved, settleMove } from '../reconcile/pending-moves.ts';

/** Time limit of the transfer: none, as disks and memory may be large. */
const timeoutMs = 0;

/** Why the node cannot be moved while it runs, as far as that is known here; undefined when it can. */
export function findObstacle(live: LiveProject, node: OpenNode, to: RegisteredCompute): string | undefined {
  const from = node.requireCompute();
  if (from === to) return `it runs on ${to.record.name} already`;
  if (findKind(node.entry.node_type)?.can.liveMove !== true) return 'nodes of its type cannot';
  if (node.live.status !== 'started') return 'it is paused: resume it, or stop it';
  for (const compute of [from, to]) {
    const { connected } = compute.transport.state;
    if (!compute.isLocal && !connected) return `${compute.record.name} is not connected`;
    if (!compute.hasLiveMoves) return `${compute.record.name} is another server than Patchbay, or an earlier version`;
  }
  const isCaptured = live.links.idsOn(node.id).some((linkId) => {
    const shown = [live.links.open(linkId).capture, ...live.captures.list(linkId)];
    return shown.some((capture) => capture?.capturing === true && capture.capture_compute_id === from.id);
  });
  return isCaptured ? 'one of its links is captured on its compute: stop the capture' : undefined;
}

export class LiveMove {
  readonly #live: LiveProject;
  readonly #node: OpenNode;
  readonly #from: RegisteredCompute;
  readonly #to: RegisteredCompute;
  readonly #path: { readonly project_id: string; readonly node_id: string };
  #links: NodeLinks | undefined;

  constructor(live: LiveProject, node: OpenNode, to: RegisteredCompute) {
    this.#live = live;
    this.#node = node;
    this.#from = node.requireCompute();
    this.#to = to;
    this.#path = { project_id: live.projectId, node_id: node.id };
  }

  /** The lock of the node is held. @throws move_refused, and what the computes answer: it runs where it ran, if it could be reached */
  async run(): Promise<NodeMigration> {
    const begun = performance.now();
    const live = this.#live;
    const streams = new MoveStreams({ ...{ projectId: live.projectId, nodeId: this.#node.id }, from: this.#from, to: this.#to });
    await this.#begin();
    try {
      const { pausedMs, links } = await this.#transfer(streams);
      await this.#settle();
      live.notify('log.info', {
        message: `Node ${this.#node.entry.name} was moved to ${this.#to.record.name}: its guest was paused for ${pausedMs} ms`,
      });
      return { node: this.#node.object, live: true, paused_ms: pausedMs, total_ms: Math.round(performance.now() - begun), links };
    } catch (error) {
      // Some end only with the departure.
      void streams.close();
      if (this.#node.entry.compute_id !== this.#to.id) await this.#links?.revert();
      await this.#settle();
      throw refusalOf(this.#node, error);
    } finally {
      await streams.close();
    }
  }

  async #begin(): Promise<void> {
    await clearPlace(this.#live, this.#node, this.#to);
    await noteMove(this.#live, this.#node, { from: this.#from.id, to: this.#to.id });
  }

  /** Brings the move to its end; when that fails, `reconcile/` tries again. Never rejects. */
  #settle(): Promise<void> {
    return settleMove(this.#live, this.#node).catch(() => undefined);
  }

  async #transfer(streams: MoveStreams): Promise<{ pausedMs: number; links: MovedLink[] }> {
    const [live, node, path] = [this.#live, this.#node, this.#path];
    const [from, to] = [this.#from.transport, this.#to.transport];
    const seal = sealOf(this.#from, this.#to);
    const offer = await from.call('POST /v2/compute/projects/{project_id}/departures/{node_id}', { path, body: seal });
    const arriving = await live.nodes.makeElsewhere(node, this.#to);
    this.#links = await live.linkMoves.prepare(node, arriving);
    await to.send('POST /v2/compute/projects/{project_id}/arrivals/{node_id}', { path, body: { ...offer, ...seal }, timeoutMs });
    for (const { name } of offer.drives) streams.open(name, { bothWays: true });
    streams.open(consoleStream);
    await from.send('POST /v2/compute/projects/{project_id}/departures/{node_id}/mirror', { path, timeoutMs });
    streams.open(memoryStream);
    await from.send('POST /v2/compute/projects/{project_id}/departures/{node_id}/pause', { path, timeoutMs });
    const finishing = from.call('POST /v2/compute/projects/{project_id}/departures/{node_id}/finish', { path });
    const sending = finishing.then(({ paused_ms }) => performance.now() - paused_ms);
    const arrival = to.call('POST /v2/compute/projects/{project_id}/arrivals/{node_id}/wait', { path });
    const [pausedAt, arrived] = await all(sending, arrival, this.#links.switch());
    await this.#decide(arriving, arrived);
    await resumeMoved(node);
    const pausedMs = Math.round(performance.now() - pausedAt);
    return { pausedMs, links: await this.#links.release() };
  }

  /** Commits the move: from here on the node runs on the new compute, or nowhere. @throws storage_failed */
  async #decide(arriving: OpenNode, arrived: ComputeNodeObject): Promise<void> {
    const { nodes, changes } = this.#live;
    const { entry, live } = arriving.merged(arrived);
    await changes.commitAll([
      nodes.relocation(this.#node, this.#to, { entry, live: { ...live, status: 'started' } }),
      ...(this.#links?.commits() ?? []),
    ]);
  }
}

/**
 * A new secret with which the computes of a move authenticate its streams; empty where one of them is of an earlier version: then the streams
 * are as safe as the connections through which they go.
 */
function sealOf(from: RegisteredCompute, to: RegisteredCompute): { secret?: string } {
  return from.hasSealedMoves && to.hasSealedMoves ? { secret: randomBytes(32).toString('hex') } : {};
}

/** Waits until all three promises have settled. @throws the first of their errors */
async function all<A, B>(one: Promise<A>, other: Promise<B>, third: Promise<void>): Promise<[A, B]> {
  const results = await Promise.allSettled([one, other, third]);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return Promise.all([one, other]);
}

/** Converts a compute's refusal to `move_refused`. A remote compute's refusal arrives as `compute_error`, with its message only. */
function refusalOf({ entry: { name } }: OpenNode, error: unknown): unknown {
  return isFault(error, 'compute_error') || isFault(error, 'qemu_failed')
    ? fault('move_refused', { name, reason: error.message }, { cause: error })
    : error;
}

interface MovingNode {
  readonly projectId: string;
  readonly nodeId: string;
  readonly from: RegisteredCompute;
  readonly to: RegisteredCompute;
}

/**
 * Relays the data of a moving machine to its successor through this server. The computes need not reach each other, and the connections are
 * authenticated already. A stream that breaks breaks the move, which the computes notice themselves.
 */
class MoveStreams {
  readonly #node: MovingNode;
  readonly #abort = new AbortController();
  readonly #legs: Promise<void>[] = [];

  constructor(node: MovingNode) {
    this.#node = node;
  }

  /** Connects a stream in one direction, or in both. Never rejects. */
  open(stream: string, { bothWays = false } = {}): void {
    const { from, to } = this.#node;
    const there = this.#path('departures', stream);
    const here = this.#path('arrivals', stream);
    this.#legs.push(this.#carry([from, there], [to, here]));
    if (bothWays) this.#legs.push(this.#carry([to, here], [from, there]));
  }

  /** Cuts the streams that are still open. Never rejects. */
  async close(): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#legs);
  }

  #path(side: 'departures' | 'arrivals', stream: string): string {
    const { projectId, nodeId } = this.#node;
    return `/v2/compute/projects/${projectId}/${side}/${nodeId}/streams/${stream}`;
  }

  async #carry(source: readonly [RegisteredCompute, string], target: readonly [RegisteredCompute, string]): Promise<void> {
    const { signal } = this.#abort;
    try {
      const { body } = await source[0].transport.raw('GET', source[1], undefined, signal);
      const bytes = body instanceof Readable ? body : Readable.from([body]);
      bytes.on('error', () => undefined);
      const cut = () => bytes.destroy(new Error('the move has ended'));
      signal.addEventListener('abort', cut, { once: true });
      if (signal.aborted) cut();
      // A reader that has closed must not leave the sender waiting.
      await target[0].transport.raw('POST', target[1], bytes).finally(() => bytes.destroy());
    } catch {
      // The computes know.
    }
  }
}
