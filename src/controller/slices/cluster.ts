/** The computes that are not registered by hand: slices, the engines that place them, and what clients are shown of them. */
import { EventStream } from '../../lib/event-stream.ts';
import type { Log } from '../../lib/log.ts';
import type { Settings } from '../../schema/settings.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { EngineSlices } from './engine-slices.ts';
import { makeEngines } from './make-engines.ts';
import { SilentSlices } from './silent-slices.ts';
import type { SliceEntry } from './slice-entry.ts';
import { SliceList } from './slice-list.ts';
import { lostAfter, Slices, type SlicesOptions } from './slices.ts';

export interface ClusterOptions {
  readonly settings: Settings;
  readonly stateDirectory: string;
  readonly computes: Computes;
  readonly log: Log;
  /** Handles a slice that ends; see `SlicesOptions`. */
  readonly onEnding: SlicesOptions['onEnding'];
}

export interface FencedSlice {
  readonly compute: RegisteredCompute;
  readonly entry: SliceEntry;
}

export class Cluster {
  readonly slices: Slices;
  readonly engineSlices: EngineSlices;
  readonly list: SliceList;
  /** Slices of which nothing runs any more. */
  readonly fences: EventStream<FencedSlice>;
  readonly #joinUrl: string;

  private constructor(options: ClusterOptions, parts: Pick<Cluster, 'slices' | 'engineSlices' | 'fences'>) {
    this.slices = parts.slices;
    this.engineSlices = parts.engineSlices;
    this.fences = parts.fences;
    this.list = new SliceList(parts.slices, options.computes, (id) => parts.engineSlices.reportOf(id));
    this.#joinUrl = options.settings.Cluster.join_url;
  }

  static async open(options: ClusterOptions): Promise<Cluster> {
    const { settings, stateDirectory, computes, log } = options;
    const fences = new EventStream<FencedSlice>();
    const leaseMs = settings.Cluster.lease_seconds * 1000;
    const onFenced = (compute: RegisteredCompute, entry: SliceEntry) => fences.emit({ compute, entry });
    const { onEnding } = options;
    const engines = makeEngines(settings);
    const slices: Slices = await Slices.open({
      ...{ stateDirectory, computes, log, leaseMs, onFenced, onEnding },
      engineLeases: {
        canAsk: ({ order }) => order !== null && engines.get(order.engine)?.canBeAsked === true,
        isOver: (id, entry) => silent.isOver(id, entry),
        renewed: (id) => silent.forget(id),
      },
    });
    const engineSlices = await EngineSlices.open({ stateDirectory, slices, engines, log });
    const silent = new SilentSlices({ engineSlices, leaseMs, waitMs: lostAfter * leaseMs, log });
    const cluster = new Cluster(options, { slices, engineSlices, fences });
    fences.subscribe(({ compute }) => engineSlices.onFenced(compute.id));
    return cluster;
  }

  /** Whether what nodes keep there ends with its host, so that it is copied to the controller. */
  losesFiles(computeId: string): boolean {
    const slice = this.slices.find(computeId);
    return slice !== undefined && (!slice.order || this.engineSlices.losesDisks(slice));
  }

  /** The server listens here. */
  begin(url: string): void {
    this.engineSlices.begin(this.#joinUrl || url);
  }

  /** `deleteCompute`: after it nothing registers it. A slice of an engine is marked first: it does not end by itself, without its data. */
  async forget(computeId: string, deleteCompute: () => Promise<void>): Promise<void> {
    const slice = this.slices.find(computeId);
    const engine = slice && this.engineSlices.engineOf(slice);
    if (!engine) {
      await deleteCompute();
      // A slice that is deleted a second time must still be ended by its engine.
      if (!this.slices.isDeleted(computeId)) await this.slices.forget(computeId);
      return;
    }
    await this.slices.markDeleted(computeId);
    try {
      await deleteCompute();
    } catch (error) {
      await this.slices.unmarkDeleted(computeId, slice);
      throw error;
    }
    await this.engineSlices.delete(computeId, engine);
  }

  /** Engines are not watched any more. */
  stop(): Promise<void> {
    return this.engineSlices.close();
  }

  close(): Promise<void> {
    return this.slices.close();
  }
}
