/**
 * Slices that their nodes leave: lost ones, those that a client drains, and those whose engine takes their place, as their host is drained
 * or they were asked to end (eviction, preemption).
 *
 * Theory of operation. Why a slice is left is a function of what is stored of it, of its engine's last report, and of whether it asked to end
 * under its lease. `reconcile/` moves its nodes by that. A slice that was asked to end waits while some of its nodes are moved, for as long as
 * its grace allows for (`Slice.stop`), then it stops the rest and ends. One on a host that is drained is ended here, once nothing runs on it any
 * more, or as soon as its engine has room for it elsewhere. In both cases its engine places it again, and what had no room on other slices
 * is started again with it.
 */
import type { Log } from '../../lib/log.ts';
import { Retry } from '../../lib/retry.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LeaveReason } from '../reconcile/decide.ts';
import type { EngineSlices } from '../slices/engine-slices.ts';
import type { Slices } from '../slices/slices.ts';

/** Operations on the nodes of a slice that leaves. */
interface DepartingNodes {
  /** Has them looked at: those that can are moved. */
  readonly look: (compute: RegisteredCompute) => void;
  /** Sends a sentence to the open projects that have nodes there. */
  readonly notify: (compute: RegisteredCompute, message: string) => void;
  /** Counts the nodes of open projects on the compute, and those of them that are being moved or about to be. */
  readonly count: (compute: RegisteredCompute) => { readonly left: number; readonly moving: number };
}

interface LeavingSlicesOptions {
  readonly slices: Pick<Slices, 'find' | 'note'>;
  readonly engineSlices: Pick<EngineSlices, 'isDraining' | 'graceMs' | 'reportOf' | 'vacate' | 'drains'>;
  readonly findCompute: (id: string) => RegisteredCompute | undefined;
  readonly nodes: DepartingNodes;
  readonly log: Log;
}

/** A slice that was asked to end. */
interface EndingSlice {
  /** Epoch of the slice's lease. */
  readonly epoch: number | null;
  /** `performance.now()` after which it does not wait; undefined: it was started by hand, and stops its nodes at once. */
  readonly waitsUntil: number | undefined;
  /** `performance.now()` of its last request to end. */
  askedAt: number;
}

const retryTimes = { firstMs: 2_000, longestMs: 60_000 };
const movingPollMs = 500;
/** A slice that waits asks every half second whether it may end, and renews its lease meanwhile. */
const askedAgainMs = 10_000;
/** A slice has so long to stop what could not be moved, where its grace is not shorter than three times that. */
const stopMs = 10_000;

export class LeavingSlices {
  readonly #options: LeavingSlicesOptions;
  /** Slices that were asked to end, by the id of the compute. */
  readonly #ending = new Map<string, EndingSlice>();
  /** Slices on drained hosts, until they are vacated; by the id of the compute. */
  readonly #vacating = new Map<string, { readonly stop: AbortController; readonly end: Promise<void> }>();
  #isClosed = false;

  constructor(options: LeavingSlicesOptions) {
    this.#options = options;
    options.engineSlices.drains.subscribe((id) => this.look(id));
  }

  reasonOf(compute: RegisteredCompute): LeaveReason {
    const entry = this.#options.slices.find(compute.id);
    // An engine places its lost slice again, with its disks; a slice that has left returns.
    if (entry?.state === 'lost') return entry.order ? 'no' : 'lost';
    if (entry?.state !== 'joined') return 'no';
    const ending = this.#endingOf(compute);
    if (ending) return performance.now() < (ending.waitsUntil ?? 0) ? 'evicted' : 'no';
    if (this.#options.engineSlices.isDraining(compute.id)) return 'evicted';
    return entry.isDraining ? 'drained' : 'no';
  }

  /** Nothing is placed there. */
  isLeaving(computeId: string): boolean {
    const { slices, engineSlices, findCompute } = this.#options;
    const compute = findCompute(computeId);
    const isEnding = compute !== undefined && this.#endingOf(compute)?.waitsUntil !== undefined;
    return isEnding || engineSlices.isDraining(computeId) || slices.find(computeId)?.isDraining === true;
  }

  /** Whether the slice was asked to end: no node is started there. */
  isEnding(compute: RegisteredCompute): boolean {
    return this.#endingOf(compute) !== undefined;
  }

  /**
   * The slice has renewed its lease, and was asked to end or not.
   * @returns whether it is to wait, as its nodes are being moved, and to ask again
   */
  onSliceEnding(compute: RegisteredCompute, isEnding = true): boolean {
    const { engineSlices, nodes } = this.#options;
    let ending = this.#endingOf(compute);
    if (!isEnding) {
      if (ending && performance.now() - ending.askedAt > askedAgainMs) this.#onRestarted(compute);
      return false;
    }
    if (!ending) {
      const graceMs = this.#isClosed ? undefined : engineSlices.graceMs(compute.id);
      const waitsUntil = graceMs === undefined ? undefined : performance.now() + graceMs - Math.min(stopMs, graceMs / 3);
      ending = { epoch: compute.epoch, waitsUntil, askedAt: 0 };
      this.#ending.set(compute.id, ending);
      if (waitsUntil !== undefined) {
        if (!engineSlices.isDraining(compute.id)) this.#notify(compute);
        nodes.look(compute);
      }
    }
    ending.askedAt = performance.now();
    return performance.now() < (ending.waitsUntil ?? 0) && nodes.count(compute).moving > 0;
  }

  /** The server of the slice was killed before it had ended, and the next one has its lease. */
  #onRestarted(compute: RegisteredCompute): void {
    this.#ending.delete(compute.id);
    this.#options.nodes.look(compute);
  }

  /** Nothing of the slice runs any more. */
  onSliceEnded(computeId: string): void {
    this.#ending.delete(computeId);
    this.#vacating.get(computeId)?.stop.abort();
  }

  /** Looks at a slice whose engine has begun or ended its drain, or that has joined, perhaps on a host that is drained. */
  look(id: string): void {
    const { slices, engineSlices, findCompute, nodes } = this.#options;
    const compute = findCompute(id);
    if (!compute || this.#isClosed) return;
    nodes.look(compute);
    const vacating = this.#vacating.get(id);
    if (!engineSlices.isDraining(id)) {
      if (!vacating || vacating.stop.signal.aborted) return;
      vacating.stop.abort();
      void this.#note(id, null);
    } else if (slices.find(id)?.state === 'joined' && vacating?.stop.signal.aborted !== false) {
      const stop = new AbortController();
      const end = this.#vacate(compute, stop.signal).finally(() => {
        if (this.#vacating.get(id)?.stop === stop) this.#vacating.delete(id);
      });
      this.#vacating.set(id, { stop, end });
    }
  }

  /** Resolves when no engine is asked for room any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { stop } of this.#vacating.values()) stop.abort();
    await Promise.all(Array.from(this.#vacating.values(), ({ end }) => end));
  }

  #endingOf(compute: RegisteredCompute): EndingSlice | undefined {
    const ending = this.#ending.get(compute.id);
    return ending?.epoch === compute.epoch ? ending : undefined;
  }

  #notify(compute: RegisteredCompute): void {
    const message = `${compute.record.name}: ${this.#reasonOf(compute)} Its nodes are moved to other slices, or start again with it`;
    this.#options.nodes.notify(compute, message);
  }

  #reasonOf({ id }: RegisteredCompute): string {
    return sentence(this.#options.engineSlices.reportOf(id)?.reason ?? 'It was asked to end');
  }

  /** Never rejects. */
  async #vacate(compute: RegisteredCompute, signal: AbortSignal): Promise<void> {
    const { engineSlices, nodes } = this.#options;
    const retry = new Retry(retryTimes);
    const soon = new Retry({ firstMs: movingPollMs, longestMs: movingPollMs });
    this.#notify(compute);
    await this.#note(compute.id, `${this.#reasonOf(compute)} Its nodes are moved to other slices`);
    while (!signal.aborted && !this.isEnding(compute)) {
      const { left, moving } = nodes.count(compute);
      if (moving === 0) {
        const stays = `${left} of its nodes stay until their engine has room for it elsewhere`;
        await this.#note(compute.id, `${this.#reasonOf(compute)} ${left === 0 ? 'Its nodes have been moved' : stays}`);
        if (signal.aborted || (await engineSlices.vacate(compute.id, { isEmpty: left === 0 }))) return;
      }
      await (moving > 0 ? soon : retry).pause(signal);
    }
  }

  /** Never rejects. */
  #note(id: string, reason: string | null): Promise<void> {
    return this.#options.slices.note(id, reason).catch((error: Error) => this.#options.log.warn({ err: error }, 'a note was lost'));
  }
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
