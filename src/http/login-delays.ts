/**
 * Slows down who guesses passwords. Failures of one client are answered one after the other, each later than the one before; while as many
 * wait as may, no further attempt is looked at. So a client has one guess a `longestMs`, however many connections it opens. Clients at other
 * addresses are not concerned, and credentials that were refused a moment ago are no new guess: a program with an old password delays no one else.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Typing errors cost nothing. */
const freeFailures = 5;
const firstMs = 200;
const longestMs = 10_000;
/** Attempts of one client that wait for their answer. */
const mostWaiting = 8;
/** Of all clients. */
const mostWaitingInAll = 1_000;
/** A client that was quiet so long starts anew. */
const forgetMs = 15 * 60_000;
const mostClients = 10_000;
/** Refused credentials that are remembered of a client. */
const mostRefused = 8;

interface Failures {
  count: number;
  waiting: number;
  /** When the last failure is, or was, answered. Ms of `performance.now()`. */
  answeredAt: number;
  readonly refused: string[];
}

export class LoginDelays {
  readonly #clients = new Map<string, Failures>();
  #waiting = 0;

  /** False while too many failures of the client wait: its credentials must not be looked at. */
  accepts(client: string): boolean {
    return this.#waiting < mostWaitingInAll && (this.#clients.get(client)?.waiting ?? 0) < mostWaiting;
  }

  /** Resolves when the failure may be answered. `attempt` identifies the credentials. */
  async failed(client: string, attempt: Buffer): Promise<void> {
    const failures = this.#failuresOf(client);
    const name = attempt.toString('base64');
    if (failures.refused.includes(name)) return;
    failures.refused.unshift(name);
    failures.refused.length = Math.min(failures.refused.length, mostRefused);
    failures.count += 1;
    if (failures.count <= freeFailures) return;
    const delayMs = Math.min(longestMs, firstMs * 2 ** Math.min(20, failures.count - freeFailures - 1));
    const now = performance.now();
    failures.answeredAt = Math.max(now, failures.answeredAt) + delayMs;
    failures.waiting += 1;
    this.#waiting += 1;
    await sleep(failures.answeredAt - now, undefined, { ref: false });
    failures.waiting -= 1;
    this.#waiting -= 1;
  }

  #failuresOf(client: string): Failures {
    const known = this.#clients.get(client);
    this.#clients.delete(client);
    const isOld = known !== undefined && known.waiting === 0 && performance.now() - known.answeredAt > forgetMs;
    const failures = known && !isOld ? known : { count: 0, waiting: 0, answeredAt: performance.now(), refused: [] };
    if (failures.count <= freeFailures) failures.answeredAt = performance.now();
    this.#clients.set(client, failures);
    const oldest = this.#clients.size > mostClients ? this.#clients.keys().next().value : undefined;
    if (oldest !== undefined) this.#clients.delete(oldest);
    return failures;
  }
}
