/**
 * Places the nodes of a lab on computes so that few links are cut. Theory of operation: first greedily, along the links from the node with
 * the most of them, filling the emptiest compute before the next one is begun; then single nodes move while that cuts less
 * (Fiduccia and Mattheyses, 1982, for any number of parts). A pass costs as much as there are nodes and links.
 */
import { Turns } from '../../lib/turns.ts';
import type { Candidate, NodeNeeds } from './choose-compute.ts';

export interface PartNode {
  readonly needs: NodeNeeds;
  /** Ids of the candidates on which it may be. One: it stays there. */
  readonly on: ReadonlySet<string>;
}

export interface PartLink {
  /** Indices of nodes. */
  readonly ends: readonly [number, number];
  /** Cost of cutting the link. */
  readonly weight: number;
}

export interface Partition {
  /** Id of the compute of each node; undefined: it fits on none. */
  readonly computes: readonly (string | undefined)[];
  /** Number of links between computes. */
  readonly cut: number;
}

const memoryShare = 0.9;
const passes = 8;

/** A link that has a delay anyway is cut rather than others: the path between two hosts is part of its delay. */
export function linkWeight(delayMs: number): number {
  return delayMs > 0 ? 1 : 10;
}

/** Divides the nodes among the candidates, in short turns of the event loop. */
export async function partition(
  nodes: readonly PartNode[],
  links: readonly PartLink[],
  candidates: readonly Candidate[],
): Promise<Partition> {
  const turns = new Turns();
  const parts = new Parts(nodes, links, candidates);
  for (const index of inOrder(nodes, parts.neighbours)) {
    parts.placeFirst(index);
    if (turns.isOver) await turns.next();
  }
  for (let pass = 0; pass < passes; pass++) {
    let moved = 0;
    for (const index of nodes.keys()) {
      moved += Number(parts.improve(index));
      if (turns.isOver) await turns.next();
    }
    if (moved === 0) break;
  }
  const computes = parts.places.map((place) => (place === undefined ? undefined : candidates[place]?.id));
  return { computes, cut: links.filter(({ ends: [one, other] }) => computes[one] !== computes[other]).length };
}

interface Neighbour {
  readonly index: number;
  readonly weight: number;
}

class Parts {
  readonly neighbours: Neighbour[][];
  /** Index of the candidate of each node. */
  readonly places: (number | undefined)[];
  readonly #nodes: readonly PartNode[];
  readonly #candidates: readonly Candidate[];
  readonly #used: { cpus: number; memory: number; nodes: number }[];

  constructor(nodes: readonly PartNode[], links: readonly PartLink[], candidates: readonly Candidate[]) {
    this.#nodes = nodes;
    this.#candidates = candidates;
    this.places = nodes.map(() => undefined);
    this.#used = candidates.map(({ used }) => ({ ...used, nodes: 0 }));
    this.neighbours = nodes.map(() => []);
    for (const { ends, weight } of links) {
      const [one, other] = ends;
      if (one === other) continue;
      this.neighbours[one]?.push({ index: other, weight });
      this.neighbours[other]?.push({ index: one, weight });
    }
  }

  /** Where most of its links lead, else where other nodes of the lab are, else where most is free. */
  placeFirst(index: number): void {
    const pulls = this.#pulls(index);
    let best: { place: number; pull: number; begun: number; load: number } | undefined;
    for (const place of this.#candidates.keys()) {
      const load = this.#loadWith(index, place);
      if (load === undefined) continue;
      const one = { place, pull: pulls.get(place) ?? 0, begun: Number((this.#used[place]?.nodes ?? 0) > 0), load };
      // A candidate that would have more processors in use than it has is chosen last.
      const isBetter =
        best === undefined ||
        (one.load <= 1 !== best.load <= 1
          ? one.load <= 1
          : one.pull !== best.pull
            ? one.pull > best.pull
            : one.begun !== best.begun
              ? one.begun > best.begun
              : one.load < best.load);
      if (isBetter) best = one;
    }
    if (best) this.#put(index, best.place);
  }

  /** Moves a node to where that cuts less. */
  improve(index: number): boolean {
    const here = this.places[index];
    if (here === undefined) return false;
    const pulls = this.#pulls(index);
    let best = { place: here, pull: pulls.get(here) ?? 0 };
    for (const [place, pull] of pulls) {
      if (pull <= best.pull) continue;
      const load = this.#loadWith(index, place);
      if (load !== undefined && load <= 1) best = { place, pull };
    }
    if (best.place === here) return false;
    this.#put(index, best.place);
    return true;
  }

  /** Returns the weight of the node's links to each candidate. */
  #pulls(index: number): Map<number, number> {
    const pulls = new Map<number, number>();
    for (const { index: other, weight } of this.neighbours[index] ?? []) {
      const place = this.places[other];
      if (place !== undefined) pulls.set(place, (pulls.get(place) ?? 0) + weight);
    }
    return pulls;
  }

  /** Undefined: it may not be there, or its memory does not fit. */
  #loadWith(index: number, place: number): number | undefined {
    const [node, candidate, used] = [this.#nodes[index], this.#candidates[place], this.#used[place]];
    if (!node || !candidate || !used || !node.on.has(candidate.id)) return undefined;
    const memory = (candidate.memory ?? 4096) * memoryShare;
    if (used.memory + node.needs.memory > memory) return undefined;
    return Math.max((used.memory + node.needs.memory) / memory, (used.cpus + node.needs.cpus) / (candidate.cpus ?? 2));
  }

  #put(index: number, place: number): void {
    const before = this.places[index];
    if (before !== undefined) this.#add(index, before, -1);
    this.places[index] = place;
    this.#add(index, place, 1);
  }

  #add(index: number, place: number, sign: 1 | -1): void {
    const [node, used] = [this.#nodes[index], this.#used[place]];
    if (!node || !used) return;
    used.cpus += sign * node.needs.cpus;
    used.memory += sign * node.needs.memory;
    used.nodes += sign;
  }
}

/** Orders nodes for placement: fixed nodes first, then along the links, heaviest first, so that neighbours follow each other. */
function inOrder(nodes: readonly PartNode[], neighbours: readonly (readonly Neighbour[])[]): number[] {
  const degree = (index: number) => neighbours[index]?.length ?? 0;
  const fixed = [...nodes.keys()].filter((index) => nodes[index]?.on.size === 1);
  const roots = [...fixed, ...[...nodes.keys()].sort((one, other) => degree(other) - degree(one))];
  const seen = new Set<number>(fixed);
  const order = [...fixed];
  let next = 0;
  for (const root of roots) {
    if (!seen.has(root)) {
      seen.add(root);
      order.push(root);
    }
    for (; next < order.length; next++) {
      const heaviest = [...(neighbours[order[next] ?? 0] ?? [])].sort((one, other) => other.weight - one.weight);
      for (const { index } of heaviest) {
        if (seen.has(index)) continue;
        seen.add(index);
        order.push(index);
      }
    }
  }
  return order;
}
