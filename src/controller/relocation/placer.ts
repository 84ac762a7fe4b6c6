/** Chooses computes for nodes, by what the nodes of all open projects declare. */
import { fault } from '../../api/faults.ts';
import type { NodeType } from '../../schema/node.ts';
import type { PlacementReply, PlacementRequest } from '../../schema/placement.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { type Candidate, chooseCompute, type NodeNeeds } from '../placement/choose-compute.ts';
import { needsOf } from '../placement/node-needs.ts';
import { linkWeight, partition } from '../placement/partition.ts';
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

  /** Where the nodes of a lab would be placed so that few links are cut. Nothing is reserved. @throws invalid_request */
  async plan({ nodes, links = [] }: PlacementRequest): Promise<PlacementReply> {
    const used = this.#used();
    const indices = new Map(nodes.map(({ ref }, index) => [ref, index]));
    if (indices.size < nodes.length) throw fault('invalid_request', { reason: 'two nodes have the same ref' });
    const ready = new Map<string, Candidate>();
    const able = new Map<string, ReadonlySet<string>>();
    for (const nodeType of new Set(nodes.map(({ node_type }) => node_type))) {
      const possible = this.#computes.all().flatMap((compute) => this.#candidate(compute, nodeType, used) ?? []);
      for (const candidate of possible) ready.set(candidate.id, candidate);
      able.set(nodeType, new Set(possible.map(({ id }) => id)));
    }
    const parts = nodes.map(({ node_type, properties = {}, compute_id }) => {
      const anywhere = able.get(node_type) ?? new Set();
      const on = compute_id === undefined ? anywhere : new Set([compute_id].filter((id) => anywhere.has(id)));
      return { needs: needsOf(node_type, properties), on };
    });
    const indexOf = (ref: string) => {
      const index = indices.get(ref);
      if (index === undefined) throw fault('invalid_request', { reason: `no node has the ref "${ref}"` });
      return index;
    };
    const joined = links.map(({ nodes: [one = '', other = ''], delay = 0 }) => {
      return { ends: [indexOf(one), indexOf(other)] as const, weight: linkWeight(delay) };
    });
    const { computes, cut } = await partition(parts, joined, [...ready.values()]);
    return { nodes: nodes.map(({ ref }, index) => ({ ref, compute_id: computes[index] ?? null })), cut };
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
