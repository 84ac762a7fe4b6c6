/**
 * Slices whose engine takes their place: the host is drained, or the slice was asked to end (eviction, preemption).
 *
 * Theory of operation. Their nodes are moved to other slices, machines while they run. A slice that was asked to end waits for that for as
 * long as its grace allows for (`Slice.stop`), then it stops the rest and ends. One on a host that is drained is ended here, once nothing runs
 * on it any more, or as soon as its engine has room for it elsewhere. In both cases its engine places it again, and what had no room on
 * other slices is started again with it.
 */
import type { Log } from '../../lib/log.ts';
import { Retry } from '../../lib/retry.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { EngineSlices } from '../slices/engine-slices.ts';
import type { Slices } from '../slices/slices.ts';
import type { Relocation } from './relocation.ts';

export interface EvictionsOptions {
  readonly slices: Slices;
  readonly engineSlices: EngineSlices;
  readonly findCompute: (id: string) => RegisteredCompute | undefined;
  readonly relocation: Pick<Relocation, 'ending' | 'evict'>;
  readonly log: Log;
}

interface Evicted {
  /** Of the slice's lease: each has one eviction at most. */
  readonly epoch: number | null;
  readonly stop: AbortController;
  isMoving: boolean;
  /** `performance.now()` after which a slice that was asked to end does not wait; undefined: it was not asked. */
  waitsUntil: number | undefined;
}

const retryTimes = { firstMs: 2_000, longestMs: 60_000 };
/** A slice has so long to stop what could not be moved, where its grace is not shorter than three times that. */
const stopMs = 10_000;

export class Evictions {
  readonly #options: EvictionsOptions;
  /** By the id of the compute. */
  readonly #evicted = new Map<string, Evicted>();
  /** By the id of the compute: the end of its last eviction, which moves nodes to the end after it was stopped. */
  readonly #ends = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(options: EvictionsOptions) {
    this.#options = options;
    options.engineSlices.drains.subscribe((id) => this.look(id));
  }

  /** Nothing is placed there. */
  isLeaving(computeId: string): boolean {
    const compute = this.#options.findCompute(computeId);
    return this.#options.engineSlices.isDraining(computeId) || this.#current(compute) !== undefined;
  }

  /** The slice was asked to end. @returns whether it is to wait, as its nodes are being moved, and to ask again. Never rejects */
  async ending(compute: RegisteredCompute): Promise<boolean> {
    this.#options.relocation.ending(compute);
    const graceMs = this.#options.engineSlices.graceMs(compute.id);
    // One that was started by hand stops its nodes at once.
    if (graceMs === undefined) return false;
    const evicted = this.#begin(compute);
    if (!evicted) return false;
    evicted.waitsUntil ??= performance.now() + graceMs - Math.min(stopMs, graceMs / 3);
    if (performance.now() >= evicted.waitsUntil) evicted.stop.abort();
    return evicted.isMoving && !evicted.stop.signal.aborted;
  }

  /** Nothing of the slice runs any more: its engine places it again. */
  ended(computeId: string): void {
    this.#evicted.get(computeId)?.stop.abort();
    this.#evicted.delete(computeId);
  }

  /** Resolves when nothing is moved any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { stop } of this.#evicted.values()) stop.abort();
    await Promise.all(this.#ends.values());
  }

  #current(compute: RegisteredCompute | undefined): Evicted | undefined {
    const evicted = compute && this.#evicted.get(compute.id);
    return evicted?.epoch === compute?.epoch ? evicted : undefined;
  }

  /** Its engine has begun to drain it, or has ended that, or it has joined: on a host that is drained, perhaps. */
  look(id: string): void {
    const { slices, engineSlices, findCompute } = this.#options;
    const compute = findCompute(id);
    if (!compute) return;
    if (engineSlices.isDraining(id)) {
      if (slices.find(id)?.state === 'joined') this.#begin(compute);
      return;
    }
    const evicted = this.#current(compute);
    if (!evicted || evicted.waitsUntil !== undefined) return;
    this.ended(id);
    void this.#note(id, null);
  }

  #begin(compute: RegisteredCompute): Evicted | undefined {
    const before = this.#current(compute);
    if (before || this.#isClosed) return before;
    const stop = new AbortController();
    const evicted: Evicted = { epoch: compute.epoch, stop, isMoving: true, waitsUntil: undefined };
    const { id } = compute;
    this.#evicted.get(id)?.stop.abort();
    this.#evicted.set(id, evicted);
    const end = (this.#ends.get(id) ?? Promise.resolve())
      .then(() => this.#evict(compute, evicted))
      .catch((error: unknown) => {
        evicted.isMoving = false;
        this.#options.log.error({ err: error }, `the nodes of ${compute.record.name} could not be moved`);
      })
      .finally(() => {
        if (this.#ends.get(id) === end) this.#ends.delete(id);
      });
    this.#ends.set(id, end);
    return evicted;
  }

  async #evict(compute: RegisteredCompute, evicted: Evicted): Promise<void> {
    const { relocation, engineSlices } = this.#options;
    const { signal } = evicted.stop;
    const isEnding = () => evicted.waitsUntil !== undefined;
    const retry = new Retry(retryTimes);
    if (signal.aborted) return;
    const reason = sentence(engineSlices.reportOf(compute.id)?.reason ?? 'It was asked to end');
    await this.#note(compute.id, `${reason} Its nodes are moved to other slices`);
    for (let isAgain = false; !signal.aborted; isAgain = true) {
      evicted.isMoving = true;
      const left = await relocation.evict(compute, { stop: signal, reason, isAgain });
      evicted.isMoving = false;
      if (signal.aborted || isEnding()) return;
      const stays = `${left} of its nodes stay until their engine has room for it elsewhere`;
      await this.#note(compute.id, `${reason} ${left === 0 ? 'Its nodes have been moved' : stays}`);
      if (await engineSlices.vacate(compute.id, { isEmpty: left === 0 })) return;
      await retry.pause(signal);
    }
  }

  /** Never rejects. */
  #note(id: string, reason: string | null): Promise<void> {
    return this.#options.slices.note(id, reason).catch((error: Error) => this.#options.log.warn({ err: error }, 'a note was lost'));
  }
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
