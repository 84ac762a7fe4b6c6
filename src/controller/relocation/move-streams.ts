/**
 * Relays the data of a moving machine to its successor through this server. The computes need not reach each other, and the connections are
 * authenticated already. A stream that breaks breaks the move, which the computes notice themselves.
 */
import { Readable } from 'node:stream';
import type { RegisteredCompute } from '../computes/compute.ts';

export interface MovingNode {
  readonly projectId: string;
  readonly nodeId: string;
  readonly from: RegisteredCompute;
  readonly to: RegisteredCompute;
}

export class MoveStreams {
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
