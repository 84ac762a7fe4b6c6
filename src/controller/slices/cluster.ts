/** The computes that are not registered by hand: slices, the engines that place them, and what clients are shown of them. */
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { EventStream } from '../../lib/event-stream.ts';
import type { Settings } from '../../schema/settings.ts';
import type { SliceObject } from '../../schema/slice.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { ControllerContext } from '../context.ts';
import type { Engine, SliceReport } from '../engines/engine.ts';
import { accessOf } from '../engines/kubernetes/kube-access.ts';
import { KubeClient } from '../engines/kubernetes/kube-client.ts';
import { KubernetesEngine } from '../engines/kubernetes/kubernetes-engine.ts';
import { ProcessEngine } from '../engines/process/process-engine.ts';
import { SlurmClient } from '../engines/slurm/slurm-client.ts';
import { SlurmEngine } from '../engines/slurm/slurm-engine.ts';
import { EngineSlices } from './engine-slices.ts';
import { SilentSlices } from './silent-slices.ts';
import type { SliceEntry } from './slice-entry.ts';
import { lostAfter, Slices, type SlicesOptions } from './slices.ts';

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

  private constructor(settings: Settings, computes: Computes, parts: Pick<Cluster, 'slices' | 'engineSlices' | 'fences'>) {
    this.slices = parts.slices;
    this.engineSlices = parts.engineSlices;
    this.fences = parts.fences;
    this.list = new SliceList(parts.slices, computes, (id) => parts.engineSlices.reportOf(id));
    this.#joinUrl = settings.Cluster.join_url;
  }

  /** `onEnding` handles a slice that ends; see `SlicesOptions`. */
  static async open(context: ControllerContext, computes: Computes, onEnding: SlicesOptions['onEnding']): Promise<Cluster> {
    const { settings, stateDirectory, log } = context;
    const fences = new EventStream<FencedSlice>();
    const leaseMs = settings.Cluster.lease_seconds * 1000;
    const onFenced = (compute: RegisteredCompute, entry: SliceEntry) => fences.emit({ compute, entry });
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
    const silent = new SilentSlices(engineSlices, leaseMs, lostAfter * leaseMs, log);
    const cluster = new Cluster(settings, computes, { slices, engineSlices, fences });
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
      if (this.slices.findStored(computeId)?.state !== 'deleted') await this.slices.forget(computeId);
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

/** The engine that the configuration names. */
type MakeEngine = (settings: Settings) => Engine;

const makers: Readonly<Record<string, MakeEngine>> = {
  process: ({ dataDirectory }) => new ProcessEngine(join(dataDirectory, 'slices')),
  kubernetes: ({ Kubernetes: section }) => {
    const { socket, namespace, command } = section;
    const client = new KubeClient(() => accessOf({ socket, namespace }));
    return new KubernetesEngine(client, { ...section, command: wordsOf(command) });
  },
  slurm: ({ Slurm: section }) => new SlurmEngine(new SlurmClient(), { ...section, command: wordsOf(section.command) }),
};

function wordsOf(line: string): string[] {
  return line.split(/\s+/).filter((word) => word !== '');
}

/** Makes the engines, by name; none where slices are started by hand only. @throws Error for an unknown engine name */
function makeEngines(settings: Settings): Map<string, Engine> {
  const { engine: name } = settings.Cluster;
  if (name === '') return new Map();
  const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
  if (!make) throw new Error(`[Cluster] engine is one of ${Object.keys(makers).join(', ')}, not "${name}"`);
  return new Map([[name, make(settings)]]);
}

/** Slices as clients are shown them: what is stored, and what their engines report. */
class SliceList {
  readonly #slices: Slices;
  readonly #computes: Computes;
  /** Returns the last report of a slice's engine, by the id of the slice. */
  readonly #reportOf: (id: string) => SliceReport | undefined;

  /** State of a slice's drain, in words. */
  progressOf: (id: string) => string | null = () => null;

  constructor(slices: Slices, computes: Computes, reportOf: (id: string) => SliceReport | undefined) {
    this.#slices = slices;
    this.#computes = computes;
    this.#reportOf = reportOf;
  }

  all(): SliceObject[] {
    return this.#slices.all().map(([id, entry]) => this.#present(id, entry));
  }

  /** @throws slice_not_found */
  get(id: string): SliceObject {
    const entry = this.#slices.find(id);
    if (!entry) throw fault('slice_not_found', { compute_id: id });
    return this.#present(id, entry);
  }

  #present(id: string, entry: SliceEntry): SliceObject {
    const report = this.#reportOf(id);
    const isOn = entry.state === 'joined' && (entry.isDraining || report?.state === 'draining');
    // A lost slice of an engine is placed again.
    const isPending = entry.order !== null && entry.state !== 'joined';
    return {
      compute_id: id,
      name: entry.name,
      // `find` and `all` return no deleted one.
      state: isOn ? 'draining' : isPending ? 'pending' : entry.state === 'deleted' ? 'left' : entry.state,
      reason:
        (entry.isDraining && isOn ? this.progressOf(id) : null) ??
        (isPending ? report?.reason : null) ??
        entry.reason ??
        report?.reason ??
        null,
      epoch: entry.epoch,
      host: report?.host ?? this.#computes.find(id)?.record.host ?? null,
      engine: entry.order?.engine ?? null,
      project_id: entry.order?.projectId || null,
      ends_at: report?.endsAt?.toISOString() ?? null,
      findings: [...entry.findings],
    };
  }
}
