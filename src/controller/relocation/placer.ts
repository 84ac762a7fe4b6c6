/** Chooses computes for nodes, by what the nodes of all open projects declare. */
import { fault } from '../../api/faults.ts';
import type { NodeType } from '../../schema/node.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { type Candidate, chooseCompute, type NodeNeeds } from '../placement/choose-compute.ts';
import { needsOf } from '../placement/node-needs.ts';
import type { KnownProjects } from '../projects/projects.ts';
import type { Slices } from '../slices/slices.ts';

export interface PlacedNode {
  readonly node_type: string;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

export class Placer {
  readonly #computes: Computes;
  readonly #projects: KnownProjects;
  readonly #slices: Slices;

  constructor(parts: { computes: Computes; projects: KnownProjects; slices: Slices }) {
    this.#computes = parts.computes;
    this.#projects = parts.projects;
    this.#slices = parts.slices;
  }

  /** `except`: the compute that it leaves. @throws no_compute_fits */
  choose({ node_type, properties = {} }: PlacedNode, except?: RegisteredCompute): RegisteredCompute {
    const used = this.#used();
    const candidates = this.#computes.all().flatMap((compute) => this.#candidate(compute, node_type, used) ?? []);
    const needs = needsOf(node_type, properties);
    const id = chooseCompute(
      needs,
      candidates.filter((candidate) => candidate.id !== except?.id),
    );
    if (id === undefined) throw fault('no_compute_fits', { node_type, memory: needs.memory });
    return this.#computes.get(id);
  }

  #candidate(compute: RegisteredCompute, nodeType: string, used: ReadonlyMap<string, NodeNeeds>): Candidate | undefined {
    const { connected, capabilities } = compute.transport.state;
    const isReady = compute.isLocal || connected;
    if (!isReady || compute.isStock || this.#slices.find(compute.id)?.isDraining) return undefined;
    if (!capabilities.node_types.includes(nodeType as NodeType)) return undefined;
    const { cpus = null, memory = null } = capabilities.resources ?? {};
    return { id: compute.id, cpus, memory, used: used.get(compute.id) ?? { cpus: 0, memory: 0 } };
  }

  #used(): Map<string, NodeNeeds> {
    const used = new Map<string, { cpus: number; memory: number }>();
    for (const project of this.#projects.all()) {
      for (const { compute_id, node_type, properties } of project.openNodes()) {
        const sum = used.get(compute_id) ?? { cpus: 0, memory: 0 };
        const needs = needsOf(node_type, properties);
        sum.cpus += needs.cpus;
        sum.memory += needs.memory;
        used.set(compute_id, sum);
      }
    }
    return used;
  }
}
