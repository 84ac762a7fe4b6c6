/** The parts that place nodes on computes, copy their files, and move them. */
import type { Log } from '../../lib/log.ts';
import type { Settings } from '../../schema/settings.ts';
import type { Computes } from '../computes/computes.ts';
import { NodeCopies, type NodeCopyEntries } from '../copies/node-copies.ts';
import { ComputeWatch } from '../projects/compute-watch.ts';
import type { KnownProjects } from '../projects/projects.ts';
import type { Registry } from '../projects/registry.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import type { Cluster } from '../slices/cluster.ts';
import { Evictions } from './evictions.ts';
import { Placer } from './placer.ts';
import { Relocation } from './relocation.ts';

/** What is stored of nodes outside of their projects. */
export interface NodeRecords {
  readonly copies: NodeCopyEntries;
  readonly reconciler: Reconciler;
}

export async function openNodeRecords(stateDirectory: string, log: Log): Promise<NodeRecords> {
  const warn = (message: string) => log.error(message);
  const [copies, reconciler] = await Promise.all([
    NodeCopies.openEntries(stateDirectory, warn),
    Reconciler.open(stateDirectory, log),
  ]);
  return { copies, reconciler };
}

export interface RelocationParts {
  readonly settings: Settings;
  readonly log: Log;
  readonly projects: KnownProjects;
  readonly computes: Computes;
  readonly cluster: Cluster;
  readonly registry: Registry;
  readonly nodeRecords: NodeRecords;
}

export function makeRelocation({ settings, log, projects, computes, cluster, registry, nodeRecords }: RelocationParts) {
  const { slices } = cluster;
  const { engineSlices } = cluster;
  const isLeaving = (id: string): boolean => slices.find(id)?.isDraining === true || evictions.isLeaving(id);
  const placer = new Placer({ computes, projects, isLeaving });
  computes.chooseBy((node) => placer.choose(node));
  const findCompute = (id: string) => computes.find(id);
  const losesFiles = (id: string) => cluster.losesFiles(id);
  const copies = new NodeCopies({ settings, log, projects, findCompute, losesFiles }, nodeRecords.copies);
  const { reconciler } = nodeRecords;
  const floorBytes = settings.Server.min_free_bytes;
  const relocation: Relocation = new Relocation({ projects, copies, reconciler, placer, slices, log, floorBytes });
  const evictions = new Evictions({ slices, engineSlices, findCompute, relocation, log });
  reconciler.isEnding = (compute) => relocation.isEnding(compute);
  cluster.fences.subscribe((fenced) => {
    evictions.ended(fenced.compute.id);
    void relocation.fenced(fenced);
  });
  const watch = new ComputeWatch({
    ...{ projects, registry, log },
    onReturn: (live, compute) => relocation.returning(live, compute),
    onBack: async (compute) => {
      await relocation.returned(compute);
      evictions.look(compute.id);
    },
  });
  return { placer, copies, relocation, evictions, watch };
}
