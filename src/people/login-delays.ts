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
/** Most clients, and most names of accounts, whose failures are remembered; the ones that failed last are kept. */
const mostQueues = 50_000;
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
  readonly #accounts = new Map<string, FailureQueue>();

  /** Whether the client's credentials may be checked; false while too many failures wait. */
  accepts(client: string, account: string): boolean {
    const own = this.#clients.get(client);
    return own === undefined || (!own.isFull && this.#accounts.get(account)?.isFull !== true);
  }

  /** Resolves when the failure may be answered. `attempt` identifies the credentials. */
  async failed(client: string, name: string, attempt: Buffer): Promise<void> {
    const text = attempt.toString('base64');
    const account = queueOf(this.#accounts, name, ofAccount);
    const own = queueOf(this.#clients, client, ofClient);
    const isRepeated = own.isRepeated(text);
    const waits = isRepeated ? [] : [own.enter(text)];
    if (!account.isRepeated(text) && !isRepeated && !account.isFull) waits.push(account.enter(text));
    await Promise.all(waits);
  }
}

/** Returns the queue of a client or an account; the one whose last failure is longest ago is forgotten for a new one. */
function queueOf(queues: Map<string, FailureQueue>, key: string, limits: QueueLimits): FailureQueue {
  const known = queues.get(key);
  queues.delete(key);
  const queue = known && !known.isForgotten ? known : new FailureQueue(limits);
  queues.set(key, queue);
  const oldest = queues.size > mostQueues ? queues.keys().next().value : undefined;
  if (oldest !== undefined) queues.delete(oldest);
  return queue;
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
