/**
 * Slows down guesses of the password. Failures are answered one after the other, each later than the one before, in two queues: that of the
 * client, which is an address (the first 64 bits of an IPv6 one), and that of the account, which all clients share. While as many failures
 * wait as may, no further attempt is looked at. So a client has one guess a `longestMs` however many connections it opens, and so have all
 * clients together however many addresses they have, beside the first guess of each: a client that never failed is always looked at, for
 * it may be the user. Credentials that were refused a moment ago are no new guess: a program with an old password delays no one.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const firstMs = 200;
const longestMs = 10_000;
/** A queue that was quiet so long starts anew. */
const forgetMs = 15 * 60_000;
/** Clients whose failures are remembered: those that failed last. */
const mostClients = 50_000;
/** Refused credentials that are remembered of each queue. */
const mostRefused = 8;

interface QueueLimits {
  /** Failures that are answered at once: typing errors. */
  readonly free: number;
  /** Failures that wait for their answer. */
  readonly waiting: number;
}

const ofClient: QueueLimits = { free: 5, waiting: 8 };
/** A class of 30 may mistype; the guesses of many addresses soon wait. */
const ofAccount: QueueLimits = { free: 50, waiting: 64 };

export class LoginDelays {
  readonly #clients = new Map<string, FailureQueue>();
  #account = new FailureQueue(ofAccount);

  /** False while too many failures wait: the client's credentials must not be looked at. */
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

/** Failures that are answered one after the other. */
class FailureQueue {
  readonly #limits: QueueLimits;
  readonly #refused: string[] = [];
  #count = 0;
  #waiting = 0;
  /** When the last failure is, or was, answered. Ms of `performance.now()`. */
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
    this.#answeredAt = Math.max(now, this.#answeredAt) + Math.min(longestMs, firstMs * 2 ** Math.min(20, late - 1));
    this.#waiting += 1;
    await sleep(this.#answeredAt - now, undefined, { ref: false });
    this.#waiting -= 1;
  }
}
