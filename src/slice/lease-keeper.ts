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
import type { EngineWord } from './engine-word.ts';

/** The machines and links of the slice. */
export interface Machines {
  /** Takes links down and pauses machines; nothing starts meanwhile. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Stops every machine; nothing starts until `resume`. */
  end(): Promise<void>;
  /** The lease has this epoch from now on; called when no machine of an earlier one is left. */
  setEpoch(epoch: number): void;
}

interface LeaseKeeperOptions {
  readonly machines: Machines;
  readonly log: Log;
  /** Renews the lease at the controller. @throws the refusal or the connection error */
  readonly renew: (epoch: number, signal: AbortSignal) => Promise<SliceLease>;
  /** Stores when the machines must end; resolves when the guard can read it. */
  readonly setDeadline: (bootMs: number) => Promise<void>;
  /** Called when the controller does not know this slice any more; the machines have been ended. */
  readonly onRemoved: (reason: string) => void;
  readonly isRemoval: (error: unknown) => boolean;
  /** Asks the engine that placed this slice whether it has its place; undefined: it cannot be asked. */
  readonly askEngine: EngineWord | undefined;
}

const tickMs = 200;
/** Shortest time between two requests, ms. */
const shortestMs = 250;
/** Part of the lease that is left when the engine is asked. */
const askedWithin = 0.7;

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #epoch: number;
  #leaseMs: number;
  #validUntil: number;
  /** The controller waits for the engine, too, before it declares this slice lost. */
  #asksEngine: boolean;
  #state: 'held' | 'paused' | 'ended' = 'held';
  /** Serializes changes of the machines. */
  #changing: Promise<void> = Promise.resolve();
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: LeaseKeeperOptions, { epoch, seconds, asks_engine = false }: SliceLease, sentAt: number) {
    this.#options = options;
    this.#epoch = epoch;
    this.#leaseMs = seconds * 1000;
    this.#validUntil = sentAt + this.#leaseMs;
    this.#asksEngine = asks_engine;
  }

  get epoch(): number {
    return this.#epoch;
  }

  async begin(): Promise<void> {
    this.#options.machines.setEpoch(this.#epoch);
    await this.#options.setDeadline(this.#validUntil + this.#leaseMs);
    this.#timer = setInterval(() => this.#tick(), tickMs);
    const { askEngine } = this.#options;
    this.#loop = Promise.all([this.#renewForever(), askEngine && this.#askForever(askEngine)]).then(() => undefined);
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
      const begun = bootMs();
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
      await pause(Math.max(shortestMs, begun + this.#leaseMs / 4 - bootMs()), signal);
    }
  }

  /** Renews the lease by the word of the engine while the controller does not answer: no other process has this place then. */
  async #askForever(askEngine: EngineWord): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pause(Math.max(shortestMs, this.#leaseMs / 4), signal);
      const sentAt = bootMs();
      const isDue = this.#asksEngine && this.#state !== 'ended' && sentAt > this.#validUntil - askedWithin * this.#leaseMs;
      if (!isDue || signal.aborted) continue;
      const epoch = this.#epoch;
      const hasPlace = await askEngine();
      if (hasPlace && epoch === this.#epoch && this.#state !== 'ended' && !signal.aborted)
        await this.#extend(sentAt).catch((error: Error) =>
          this.#options.log.warn(`The lease could not be stored: ${error.message}`),
        );
    }
  }

  #request(signal: AbortSignal): Promise<SliceLease> {
    // A later answer is of no use; on a host that has much to do one may take long.
    const limit = AbortSignal.timeout(Math.max(1_000, this.#leaseMs));
    return this.#options.renew(this.#epoch, AbortSignal.any([signal, limit]));
  }

  async #renewed({ epoch, seconds, fenced, asks_engine = false }: SliceLease, sentAt: number): Promise<void> {
    if (fenced) {
      this.#end('The controller has declared this slice lost: every machine is ended');
      await this.#changing;
      this.#setEpoch(epoch);
      return;
    }
    this.#leaseMs = seconds * 1000;
    this.#asksEngine = asks_engine;
    // A change that began during the request completes first.
    await this.#changing;
    if (await this.#extend(sentAt)) this.#setEpoch(epoch);
  }

  #setEpoch(epoch: number): void {
    this.#epoch = epoch;
    this.#options.machines.setEpoch(epoch);
  }

  /** @returns whether the lease is valid by what was asked then */
  async #extend(sentAt: number): Promise<boolean> {
    const validUntil = sentAt + this.#leaseMs;
    const wasEnded = this.#state === 'ended';
    if (validUntil <= bootMs()) return false;
    // The controller and the engine may answer at the same time.
    if (validUntil > this.#validUntil) {
      await this.#options.setDeadline(validUntil + this.#leaseMs);
      this.#validUntil = Math.max(this.#validUntil, validUntil);
    }
    // The lease ended meanwhile, or the controller has declared it lost.
    if (this.#state === 'ended' && !wasEnded) return false;
    if (this.#state !== 'held') {
      this.#state = 'held';
      this.#then(() => this.#options.machines.resume());
    }
    return true;
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
