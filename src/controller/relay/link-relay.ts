/**
 * The relay for links between computes that do not reach each other: a thread, begun when the first link may need it. It knows tickets, and
 * nothing of projects. A thread that ends is begun anew, and links connect again.
 */
import { Worker } from 'node:worker_threads';
import type { Log } from '../../lib/log.ts';
import type { RelayOrder } from './relay-thread.ts';

export interface LinkRelayOptions {
  /** Of TCP; 0: any free one. */
  readonly port: number;
  /** Where computes reach this host; empty: the address that leads to each. */
  readonly host: string;
  readonly log: Log;
}

const startMs = 5_000;
const restartMs = 1_000;

export class LinkRelay {
  readonly host: string;
  readonly #options: LinkRelayOptions;
  /** By link. */
  readonly #tickets = new Map<string, string>();
  #thread: Worker | undefined;
  #port: Promise<number | undefined> | undefined;
  #closed = false;

  constructor(options: LinkRelayOptions) {
    this.#options = options;
    this.host = options.host;
  }

  /** The port at which the ends of a link may meet with this ticket, in place of an earlier one; undefined: there is no relay now. */
  async admit(linkId: string, ticket: string): Promise<number | undefined> {
    if (this.#closed) return undefined;
    this.#port ??= this.#start();
    const before = this.#tickets.get(linkId);
    if (before !== ticket) {
      if (before !== undefined) this.#send({ revoke: before });
      this.#tickets.set(linkId, ticket);
      this.#send({ admit: ticket });
    }
    return this.#port;
  }

  forget(linkId: string): void {
    const ticket = this.#tickets.get(linkId);
    if (ticket === undefined) return;
    this.#tickets.delete(linkId);
    this.#send({ revoke: ticket });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.terminate();
  }

  #send(order: RelayOrder): void {
    this.#thread?.postMessage(order);
  }

  #start(port = this.#options.port): Promise<number | undefined> {
    const { log } = this.#options;
    const thread = new Worker(new URL('./relay-thread.ts', import.meta.url), { workerData: { port } });
    this.#thread = thread;
    thread.unref();
    for (const admit of this.#tickets.values()) this.#send({ admit });
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const timer = setTimeout(() => resolve(undefined), startMs);
    thread.once('message', ({ port: listening }: { port: number }) => {
      resolve(listening);
      // Ends of links know this port.
      thread.once('exit', () => !this.#closed && setTimeout(() => !this.#closed && void this.#start(listening), restartMs).unref());
    });
    thread.on('error', (error) => log.warn({ err: error }, 'the relay of links has ended'));
    thread.once('exit', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
    return promise;
  }
}
