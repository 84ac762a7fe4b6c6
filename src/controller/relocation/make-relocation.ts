/** The parts that place nodes on computes, copy their files, and move them. */
import type { Log } from '../../lib/log.ts';
import type { Settings } from '../../schema/settings.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { NodeCopies, type NodeCopyEntries } from '../copies/node-copies.ts';
import { ComputeWatch } from '../projects/compute-watch.ts';
import { Leftovers } from '../projects/leftovers.ts';
import type { KnownProjects } from '../projects/projects.ts';
import type { Registry } from '../projects/registry.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import type { Cluster } from '../slices/cluster.ts';
import { LeavingSlices } from './leaving-slices.ts';
import { Placer } from './placer.ts';
import { Relocation } from './relocation.ts';

/** Stored records of nodes, outside of their projects. */
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

interface RelocationParts {
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
  const findCompute = (id: string) => computes.find(id);
  const placer = new Placer({ computes, projects, isLeaving: (id) => leavingSlices.isLeaving(id) });
  computes.chooseBy((node) => placer.choose(node));
  const losesFiles = (id: string) => cluster.losesFiles(id);
  const copies = new NodeCopies({ settings, log, projects, findCompute, losesFiles }, nodeRecords.copies);
  const { reconciler } = nodeRecords;
  const floorBytes = settings.Server.min_free_bytes;
  const relocation: Relocation = new Relocation({
    ...{ projects, copies, reconciler, placer, slices, log, floorBytes },
    onLeft: (compute) => leftovers.failed(compute),
  });
  const leavingSlices = new LeavingSlices({ slices, engineSlices, findCompute, nodes: relocation, log });
  const leavingOf = (compute: RegisteredCompute) => leavingSlices.reasonOf(compute);
  reconciler.places = {
    isEnding: (compute) => leavingSlices.isEnding(compute),
    leavingOf,
    hasRoom: (node) => node.compute !== undefined && relocation.hasRoom(node, leavingOf(node.compute)),
    move: (live, node) => relocation.move(live, node, leavingOf(node.requireCompute())),
  };
  cluster.list.progressOf = (id) => {
    const compute = findCompute(id);
    return compute ? relocation.progressOf(compute) : null;
  };
  cluster.fences.subscribe((fenced) => {
    leavingSlices.onSliceEnded(fenced.compute.id);
    void relocation.fenced(fenced);
  });
  const leftovers = new Leftovers((id) => projects.find(id), registry, computes.temporary, log);
  const watch = new ComputeWatch(projects, leftovers, log, async (compute) => {
    relocation.look(compute);
    leavingSlices.look(compute.id);
  });
  return { placer, copies, relocation, leavingSlices, watch };
}
