/**
 * The relay for links between computes that do not reach each other: a thread, begun when the first link may need it. It knows
 * tickets, and nothing of projects. A thread that ends, or cannot have its port, is begun anew, and links connect again.
 */
import { Worker } from 'node:worker_threads';
import type { Log } from '../../lib/log.ts';
import { Retry } from '../../lib/retry.ts';
import type { Settings } from '../../schema/settings.ts';
import type { RelayOrder } from './relay-thread.ts';

export function makeRelay({ Cluster }: Settings, log: Log): LinkRelay {
  const host = URL.parse(Cluster.join_url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return new LinkRelay(Cluster.relay_port, host, log);
}

/** A link does not wait longer for the thread. */
const startMs = 5_000;
const restartTimes = { firstMs: 1_000, longestMs: 60_000 };

export class LinkRelay {
  /** Address at which computes reach this host; empty: the address that leads to each. */
  readonly host: string;
  readonly #log: Log;
  /** Tickets by link. */
  readonly #tickets = new Map<string, string>();
  readonly #restart = new Retry(restartTimes, () => this.#start());
  #thread: Worker | undefined;
  /**
   * Port of the present thread. It resolves to undefined when the thread cannot listen; the field is undefined without a thread.
   */
  #port: Promise<number | undefined> | undefined;
  /** Ends of links know it: it stays when the thread is begun anew. */
  #listening: number;
  #closed = false;

  /** `port`: TCP port; 0: the system chooses a free one. */
  constructor(port: number, host: string, log: Log) {
    this.#log = log;
    this.#listening = port;
    this.host = host;
  }

  /** The port at which the ends of a link may meet with this ticket, in place of an earlier one; undefined: there is no relay now. */
  async admit(linkId: string, ticket: string): Promise<number | undefined> {
    if (this.#closed) return undefined;
    if (!this.#port) this.#start();
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
    this.#restart.stop();
    await this.#thread?.terminate();
  }

  #send(order: RelayOrder): void {
    this.#thread?.postMessage(order);
  }

  #start(): void {
    const thread = new Worker(new URL('./relay-thread.ts', import.meta.url), { workerData: { port: this.#listening } });
    this.#thread = thread;
    thread.unref();
    for (const admit of this.#tickets.values()) this.#send({ admit });
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const timer = setTimeout(() => resolve(undefined), startMs);
    this.#port = promise;
    thread.once('message', ({ port }: { port: number }) => {
      this.#restart.succeeded();
      this.#listening = port;
      // A port that took longer than a link waits is used by links to come.
      this.#port = Promise.resolve(port);
      resolve(port);
    });
    thread.on('error', (error) => this.#log.warn({ err: error }, 'the relay of links has ended'));
    thread.once('exit', () => {
      clearTimeout(timer);
      resolve(undefined);
      if (this.#closed) return;
      this.#port = Promise.resolve(undefined);
      this.#restart.failed();
    });
  }
}
