/** Machines that come from another compute. One whose streams break off before it has all is removed; one that has all is paused. */
import { fault } from '../../api/faults.ts';
import type { MoveStream } from '../../emulators/driver.ts';
import type { MoveOffer } from '../../schema/move.ts';
import { MoveSeals } from './move-seals.ts';
import type { ComputeNode } from './node.ts';

/** Longest time between the start of the machine and the first stream that it is sent. Streams themselves show when they break off. */
const idleMs = 60_000;

interface Arriving {
  /** Undefined until it takes them. */
  stream?: (name: string) => MoveStream;
  readonly received: Promise<void>;
  readonly seals: MoveSeals;
  readonly abort: AbortController;
  idle?: NodeJS.Timeout;
}

export class Arrivals {
  readonly #arriving = new Map<string, Arriving>();

  /** Resolves when it can be sent. @throws move_refused, node_running, and why it cannot be started here */
  async begin(node: ComputeNode, offer: MoveOffer, secret?: string): Promise<void> {
    const receive = node.driver.memory?.receive;
    if (!receive) throw fault('move_refused', { name: node.name, reason: 'nodes of its type cannot' });
    // A controller that has died may have left an arrival.
    await this.abort(node);
    const abort = new AbortController();
    const { promise: ready, resolve, reject } = Promise.withResolvers<(name: string) => MoveStream>();
    const arrival = { offer, ready: resolve, signal: abort.signal };
    const received = node.receive((view) => receive(view, arrival));
    // Known at once: it may be aborted while it starts.
    const arriving: Arriving = { received, abort, seals: new MoveSeals('arrival', secret) };
    this.#arriving.set(node.id, arriving);
    received.catch(reject);
    arriving.stream = await ready;
    arriving.idle = setTimeout(() => abort.abort(), idleMs).unref();
    const over = () => clearTimeout(arriving.idle);
    received.then(over, over);
  }

  /** @throws move_refused */
  stream(node: ComputeNode, name: string): MoveStream {
    const { stream } = this.#get(node);
    if (!stream) throw unknown(node);
    return stream(name);
  }

  /** @throws move_refused */
  seals(node: ComputeNode): MoveSeals {
    return this.#get(node).seals;
  }

  /** `send` rejects when the stream breaks off: then the machine does not come. @throws move_refused, and what `send` throws */
  async take(node: ComputeNode, name: string, send: (stream: MoveStream) => Promise<void>): Promise<void> {
    const arriving = this.#get(node);
    const stream = this.stream(node, name);
    clearTimeout(arriving.idle);
    await send(stream).catch((error: unknown) => {
      arriving.abort.abort();
      throw error;
    });
  }

  /** Resolves when the machine has all, and is paused here. @throws move_refused, qemu_failed */
  async wait(node: ComputeNode): Promise<void> {
    await this.#get(node).received;
    this.#arriving.delete(node.id);
  }

  /** Nothing of it is left when this resolves, but the node. Never rejects. */
  async abort(node: ComputeNode): Promise<void> {
    const arriving = this.#arriving.get(node.id);
    this.#arriving.delete(node.id);
    arriving?.abort.abort();
    await arriving?.received.catch(() => undefined);
  }

  /** The server ends. Never rejects. */
  async close(): Promise<void> {
    const all = [...this.#arriving.values()];
    this.#arriving.clear();
    for (const { abort } of all) abort.abort();
    await Promise.allSettled(all.map(({ received }) => received));
  }

  #get(node: ComputeNode): Arriving {
    const arriving = this.#arriving.get(node.id);
    if (arriving) return arriving;
    throw unknown(node);
  }
}

function unknown({ name }: ComputeNode): Error {
  return fault('move_refused', { name, reason: 'its new compute knows nothing of a move: it was given up' });
}
