/**
 * Renews the lease of a slice, and fences the slice when it cannot.
 *
 * Theory of operation. A lease is valid for T from the moment at which the request for it was sent, by a clock that counts during
 * suspend. Held → (after T) → paused: links are down, machines pause, nothing starts → (after 2T) → ended: every machine is
 * stopped. A renewal in the state paused resumes the machines; the controller restarts ended ones. The controller answers `fenced`
 * to an epoch that is over: the machines are ended first, and the next request names the new epoch. The deadline of the end is also
 * in a file, by which a separate process ends the machines when this one cannot (`guard.ts`).
 */
import { bootMs } from '../lib/boot-clock.ts';
import type { Log } from '../lib/log.ts';
import type { SliceLease } from '../schema/slice.ts';

/** The machines and links of the slice. */
export interface Machines {
  /** Takes links down and pauses machines; nothing starts meanwhile. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Stops every machine; nothing starts until `resume`. */
  end(): Promise<void>;
}

export interface LeaseKeeperOptions {
  readonly machines: Machines;
  readonly log: Log;
  /** Renews the lease at the controller. @throws the refusal or the connection error */
  readonly renew: (epoch: number, signal: AbortSignal) => Promise<SliceLease>;
  /** Stores when the machines must end; resolves when the guard can read it. */
  readonly setDeadline: (bootMs: number) => Promise<void>;
  /** Called when the controller does not know this slice any more; the machines have been ended. */
  readonly onRemoved: (reason: string) => void;
  readonly isRemoval: (error: unknown) => boolean;
}

const tickMs = 200;
/** Shortest time between two requests, ms. */
const shortestMs = 250;

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #epoch: number;
  #leaseMs: number;
  #validUntil: number;
  #state: 'held' | 'paused' | 'ended' = 'held';
  /** Serializes changes of the machines. */
  #changing: Promise<void> = Promise.resolve();
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: LeaseKeeperOptions, { epoch, seconds }: SliceLease, sentAt: number) {
    this.#options = options;
    this.#epoch = epoch;
    this.#leaseMs = seconds * 1000;
    this.#validUntil = sentAt + this.#leaseMs;
  }

  get epoch(): number {
    return this.#epoch;
  }

  async begin(): Promise<void> {
    await this.#options.setDeadline(this.#validUntil + this.#leaseMs);
    this.#timer = setInterval(() => this.#tick(), tickMs);
    this.#loop = this.#renewForever();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.#loop;
    await this.#changing;
  }

  #tick(): void {
    const overdue = bootMs() - this.#validUntil;
    if (overdue >= this.#leaseMs) this.#end('The lease is over for twice its time: every machine is ended');
    else if (overdue >= 0 && this.#state === 'held') {
      this.#state = 'paused';
      this.#options.log.warn('The controller was not reached in time: machines pause until the lease is renewed');
      this.#then(() => this.#options.machines.pause());
    }
  }

  #end(reason: string): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#options.log.error(reason);
    this.#then(() => this.#options.machines.end());
  }

  #then(change: () => Promise<void>): void {
    const failed = (error: unknown) => this.#options.log.error({ err: error }, 'the machines could not follow the lease');
    this.#changing = this.#changing.then(change).catch(failed);
  }

  async #renewForever(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        // A pause or end in progress completes before the next request.
        await this.#changing;
        const sentAt = bootMs();
        await this.#renewed(await this.#request(signal), sentAt);
      } catch (error) {
        if (signal.aborted) return;
        if (this.#options.isRemoval(error)) return this.#removed((error as Error).message);
        this.#options.log.warn(`The lease could not be renewed: ${(error as Error).message}`);
      }
      await pause(Math.max(shortestMs, this.#leaseMs / 4), signal);
    }
  }

  #request(signal: AbortSignal): Promise<SliceLease> {
    const limit = AbortSignal.timeout(Math.max(1_000, this.#leaseMs / 2));
    return this.#options.renew(this.#epoch, AbortSignal.any([signal, limit]));
  }

  async #renewed({ epoch, seconds, fenced }: SliceLease, sentAt: number): Promise<void> {
    if (fenced) {
      this.#end('The controller has declared this slice lost: every machine is ended');
      await this.#changing;
      this.#epoch = epoch;
      return;
    }
    this.#leaseMs = seconds * 1000;
    // A change that began during the request completes first.
    await this.#changing;
    const validUntil = sentAt + this.#leaseMs;
    if (validUntil <= bootMs()) return;
    await this.#options.setDeadline(validUntil + this.#leaseMs);
    this.#validUntil = validUntil;
    this.#epoch = epoch;
    if (this.#state !== 'held') {
      this.#state = 'held';
      this.#then(() => this.#options.machines.resume());
    }
  }

  async #removed(reason: string): Promise<void> {
    this.#end(`The controller does not know this slice any more (${reason}): every machine is ended`);
    await this.#changing;
    this.#options.onRemoved(reason);
  }
}

/** Waits, or returns at once when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
