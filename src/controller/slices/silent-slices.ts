/**
 * Decides when a slice that does not renew its lease can be declared lost. One that cannot ask its engine has ended its machines by its lease
 * then. One that can keeps them while its engine says that it has its place, so the engine is asked to end it first; once that has been
 * accepted, and the engine does not report it as running any more, the slice gets no further yes, and its lease is waited for once more.
 */
import { bootMs } from '../../lib/boot-clock.ts';
import type { Log } from '../../lib/log.ts';
import type { EngineSlices } from './engine-slices.ts';
import type { SliceEntry } from './slice-entry.ts';

interface AskedEnd {
  /** Epoch of the slice's lease. */
  readonly epoch: number;
  /** Time of the last request to the engine, ms of `bootMs()`. */
  askedAt: number;
  isAccepted: boolean;
  /** Time since which the engine has accepted the request and does not report the slice as running. */
  quietSince: number | undefined;
}

export class SilentSlices {
  readonly #engineSlices: Pick<EngineSlices, 'engineOf' | 'reportOf'>;
  readonly #leaseMs: number;
  /** Time without a yes after which nothing of it runs. */
  readonly #waitMs: number;
  readonly #log: Log;
  readonly #endings = new Map<string, AskedEnd>();

  constructor(engineSlices: Pick<EngineSlices, 'engineOf' | 'reportOf'>, leaseMs: number, waitMs: number, log: Log) {
    this.#engineSlices = engineSlices;
    this.#leaseMs = leaseMs;
    this.#waitMs = waitMs;
    this.#log = log;
  }

  /** `entry` has not renewed its lease for `waitMs`. @returns whether nothing of it runs; otherwise this is asked again */
  isOver(id: string, entry: SliceEntry): boolean {
    const engine = this.#engineSlices.engineOf(entry);
    const state = this.#engineSlices.reportOf(id)?.state;
    // A slice that its engine has suspended keeps its place, and nothing is placed in it.
    if (!engine?.canBeAsked || state === 'suspended') return true;
    const now = bootMs();
    const known = this.#endings.get(id);
    const ending = known?.epoch === entry.epoch ? known : this.#ask(id, entry, now);
    const isReported = state !== 'lost' && state !== 'ended' && state !== undefined;
    if (isReported || !ending.isAccepted) ending.quietSince = undefined;
    else ending.quietSince ??= now;
    if (ending.quietSince === undefined && now - ending.askedAt >= this.#leaseMs) this.#ask(id, entry, now);
    return ending.quietSince !== undefined && now - ending.quietSince >= this.#waitMs;
  }

  /** Forgets that a slice was silent: it has renewed its lease. */
  forget(id: string): void {
    this.#endings.delete(id);
  }

  #ask(id: string, entry: SliceEntry, now: number): AskedEnd {
    const ending: AskedEnd = { epoch: entry.epoch, askedAt: now, isAccepted: false, quietSince: undefined };
    this.#endings.set(id, ending);
    this.#log.warn(`Slice ${entry.name} has not renewed its lease: its engine is asked to end it`);
    this.#engineSlices
      .engineOf(entry)
      ?.release(id, { keepDisks: true })
      .then(
        () => {
          ending.isAccepted = true;
        },
        (error: Error) => this.#log.warn(`Slice ${entry.name} could not be ended: ${error.message}`),
      );
    return ending;
  }
}
