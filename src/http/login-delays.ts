/**
 * Slows down guesses of the password. A failed login waits in two queues: the client's (an address, or the first 64 bits of an IPv6
 * address) and the account's, which all clients share. Each failure is answered later than the one before. While a queue is full,
 * further attempts are refused without a check. So a client, and all clients together, have one guess per `longestMs`, however many
 * connections or addresses they use. A client that never failed is always checked, because it may be the user. Credentials that
 * were refused a moment ago do not count again: a program with an old password delays no other client.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitAfter } from '../lib/retry.ts';

const firstMs = 200;
const longestMs = 10_000;
/** A queue without failures for this long starts again from the first delay. */
const forgetMs = 15 * 60_000;
/** Most clients whose failures are remembered; the ones that failed last are kept. */
const mostClients = 50_000;
/** Most refused credentials that each queue remembers. */
const mostRefused = 8;

interface QueueLimits {
  /** Failures that are answered without a delay, for typing errors. */
  readonly free: number;
  /** Failures that may wait for their answer at a time. */
  readonly waiting: number;
}

const ofClient: QueueLimits = { free: 5, waiting: 8 };
/** Fifty failures are free, so that a class of 30 may mistype; guesses from many addresses soon have to wait. */
const ofAccount: QueueLimits = { free: 50, waiting: 64 };

export class LoginDelays {
  readonly #clients = new Map<string, FailureQueue>();
  #account = new FailureQueue(ofAccount);

  /** Whether the client's credentials may be checked; false while too many failures wait. */
  accepts(client: string): boolean {
    const own = this.#clients.get(client);
    return own === undefined || (!own.isFull && !this.#account.isFull);
  }

  /** Resolves when the failure may be answered. `attempt` identifies the credentials. */
  async failed(client: string, attempt: Buffer): Promise<void> {
    const name = attempt.toString('base64');
    if (this.#account.isForgotten) this.#account = new FailureQueue(ofAccount);
    const account = this.#account;
    const own = this.#queueOf(client);
    const isRepeated = own.isRepeated(name);
    const waits = isRepeated ? [] : [own.enter(name)];
    if (!account.isRepeated(name) && !isRepeated && !account.isFull) waits.push(account.enter(name));
    await Promise.all(waits);
  }

  #queueOf(client: string): FailureQueue {
    const known = this.#clients.get(client);
    this.#clients.delete(client);
    const queue = known && !known.isForgotten ? known : new FailureQueue(ofClient);
    this.#clients.set(client, queue);
    const oldest = this.#clients.size > mostClients ? this.#clients.keys().next().value : undefined;
    if (oldest !== undefined) this.#clients.delete(oldest);
    return queue;
  }
}

/** A queue whose failures are answered one after the other. */
class FailureQueue {
  readonly #limits: QueueLimits;
  readonly #refused: string[] = [];
  #count = 0;
  #waiting = 0;
  /** Time at which the last failure was answered, or will be. Ms of `performance.now()`. */
  #answeredAt = performance.now();

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#waiting >= this.#limits.waiting;
  }

  get isForgotten(): boolean {
    return this.#waiting === 0 && performance.now() - this.#answeredAt > forgetMs;
  }

  /** Whether these credentials were refused a moment ago. */
  isRepeated(name: string): boolean {
    return this.#refused.includes(name);
  }

  /** Resolves when the failure may be answered. */
  async enter(name: string): Promise<void> {
    const now = performance.now();
    this.#refused.unshift(name);
    this.#refused.length = Math.min(this.#refused.length, mostRefused);
    this.#count += 1;
    const late = this.#count - this.#limits.free;
    if (late <= 0) {
      this.#answeredAt = now;
      return;
    }
    this.#answeredAt = Math.max(now, this.#answeredAt) + waitAfter({ firstMs, longestMs }, late);
    this.#waiting += 1;
    await sleep(this.#answeredAt - now, undefined, { ref: false });
    this.#waiting -= 1;
  }
}
