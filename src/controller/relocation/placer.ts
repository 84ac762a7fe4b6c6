/** Chooses computes for nodes, by what the nodes of all open projects declare. */
import { fault } from '../../api/faults.ts';
import type { NodeType } from '../../schema/node.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { LiveProject } from '../live/live-project.ts';
import { isAlwaysRunning } from '../live/nodes/node-runs.ts';
import { sayWaiting } from '../live/nodes/waiting.ts';
import { type Candidate, chooseCompute, type NodeNeeds } from '../placement/choose-compute.ts';
import { needsOf } from '../placement/node-needs.ts';
import { linkWeight, partition } from '../placement/partition.ts';
import type { PlacementReply, PlacementRequest, ProjectPlacement } from '../placement/placement-request.ts';
import type { KnownProjects } from '../projects/projects.ts';

export interface PlacedNode {
  readonly node_type: string;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

/** Facts of a placement that slices and copies have. */
interface PlacementFacts {
  readonly hostOf: (computeId: string) => string | null;
  readonly copyOf: (nodeId: string) => Pick<ProjectPlacement['nodes'][number], 'copied_at' | 'started_from'>;
}

export class Placer {
  readonly #computes: Computes;
  readonly #projects: KnownProjects;
  /** A client has it drained, or its engine takes its place. */
  readonly #isLeaving: (computeId: string) => boolean;

  constructor(parts: { computes: Computes; projects: KnownProjects; isLeaving: (computeId: string) => boolean }) {
    this.#computes = parts.computes;
    this.#projects = parts.projects;
    this.#isLeaving = parts.isLeaving;
  }

  /** `except`: the compute that it leaves. @throws no_compute_fits */
  choose(node: PlacedNode, except?: RegisteredCompute): RegisteredCompute {
    const compute = this.find(node, except);
    if (!compute) throw noRoomFor(node);
    return compute;
  }

  /** Chooses a compute as `choose` does; undefined: the node fits on none. `isAllowed` gets the id of a compute. */
  find(
    { node_type, properties = {} }: PlacedNode,
    except?: RegisteredCompute,
    isAllowed: (computeId: string) => boolean = () => true,
  ): RegisteredCompute | undefined {
    const used = this.#used();
    const candidates = this.#computes.all().flatMap((compute) => this.#candidate(compute, node_type, used) ?? []);
    const id = chooseCompute(
      needsOf(node_type, properties),
      candidates.filter(({ id: candidate }) => candidate !== except?.id && isAllowed(candidate)),
    );
    return id === undefined ? undefined : this.#computes.get(id);
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

  /** Where the nodes of an open project are and why, and what those that cannot run there wait for. */
  describe(live: LiveProject, { hostOf, copyOf }: PlacementFacts): ProjectPlacement {
    const used = this.#used();
    const all = this.#computes.all();
    const unusable = new Map(all.map((compute) => [compute, this.#whyNot(compute)]));
    // Many nodes have the same needs.
    const elsewhere = new Map<string, string>();
    const nodes = Array.from(live.nodes.all(), (node): ProjectPlacement['nodes'][number] => {
      const { compute, entry } = node;
      const { node_type, properties, name, compute_id } = entry;
      const needs = needsOf(node_type, properties);
      const { waiting } = node;
      const key = JSON.stringify([compute_id, node_type, needs]);
      const others = () => elsewhere.get(key) ?? this.#elsewhere({ node_type, properties }, compute);
      if (waiting && !elsewhere.has(key)) elsewhere.set(key, others());
      return {
        node_id: node.id,
        name,
        compute_id,
        compute: compute?.record.name ?? null,
        host: compute ? (hostOf(compute.id) ?? compute.record.host) : null,
        state: waiting ? 'pending' : 'placed',
        reason: waiting ? `${sayWaiting(waiting)}. ${others()}` : whyThere(compute, unusable),
        waiting_for: waiting?.reason ?? null,
        since: waiting?.since ?? null,
        attempts: waiting?.attempts ?? 0,
        wanted: isAlwaysRunning(node) ? 'running' : node.wanted.run,
        ...copyOf(node.id),
        needs,
      };
    });
    const computes = all.map((compute) => {
      const { cpus = null, memory = null } = compute.transport.state.capabilities.resources ?? {};
      const { id: compute_id, record } = compute;
      const sum = used.get(compute_id) ?? { cpus: 0, memory: 0 };
      return { compute_id, name: record.name, reason: unusable.get(compute) ?? null, size: { cpus, memory }, used: sum };
    });
    return { nodes, computes };
  }

  /** Whether a node that cannot run where it is has room on another compute. */
  #elsewhere(node: PlacedNode, except: RegisteredCompute | undefined): string {
    try {
      return `${this.choose(node, except).record.name} has room for it`;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Why no node is placed on a compute; undefined: nodes are. */
  #whyNot(compute: RegisteredCompute): string | undefined {
    const { connected, lastError } = compute.transport.state;
    if (compute.isStock) return 'A stock GNS3 compute is chosen by name only';
    if (this.#isLeaving(compute.id)) return 'It is being drained';
    if (compute.isLocal || connected) return undefined;
    return `It is not connected${lastError ? `: ${lastError}` : ''}`;
  }

  #candidate(compute: RegisteredCompute, nodeType: string, used: ReadonlyMap<string, NodeNeeds>): Candidate | undefined {
    const { capabilities } = compute.transport.state;
    if (this.#whyNot(compute) !== undefined) return undefined;
    if (!capabilities.node_types.includes(nodeType as NodeType)) return undefined;
    const { cpus = null, memory = null } = capabilities.resources ?? {};
    return { id: compute.id, cpus, memory, used: used.get(compute.id) ?? { cpus: 0, memory: 0 } };
  }

  /** Sums the needs of the nodes of open projects, by compute. */
  #used(): Map<string, NodeNeeds> {
    const used = new Map<string, NodeNeeds>();
    for (const project of this.#projects.all()) {
      for (const [computeId, { cpus, memory }] of project.liveNow?.nodes.loads.entries() ?? []) {
        const sum = used.get(computeId) ?? { cpus: 0, memory: 0 };
        used.set(computeId, { cpus: sum.cpus + cpus, memory: sum.memory + memory });
      }
    }
    return used;
  }
}

export function noRoomFor({ node_type, properties = {} }: PlacedNode) {
  return fault('no_compute_fits', { node_type, memory: needsOf(node_type, properties).memory });
}

function whyThere(compute: RegisteredCompute | undefined, unusable: ReadonlyMap<RegisteredCompute, string | undefined>): string {
  if (compute && unusable.get(compute) !== undefined) return `It was placed here before. ${unusable.get(compute)}`;
  const usable = [...unusable.values()].filter((reason) => reason === undefined).length;
  return usable < 2
    ? 'No other compute can take nodes'
    : `One of ${usable} computes that take nodes; a node stays until it is moved`;
}
