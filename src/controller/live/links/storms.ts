/** Says of the links that carry a storm which ones to suspend: those whose ends are joined by other links of the loop. */
import type { LinkStorm, PortStorm } from '../../../schema/link-stats.ts';

/** A link that carries a storm, and its nodes. */
export interface StormyLink {
  readonly linkId: string;
  readonly nodeIds: readonly [string, string];
  readonly storm: PortStorm;
}

/** Combines the storm of a link as reported at both ends: one report when both are on one compute. */
export function joinedStorm(one: PortStorm | undefined, other: PortStorm | undefined): PortStorm | undefined {
  if (!one || !other) return one ?? other;
  return {
    since: one.since < other.since ? one.since : other.since,
    // Each compute counts all frames that pass the link.
    broadcast_frames: Math.max(one.broadcast_frames, other.broadcast_frames),
    broadcasts_per_second: Math.max(one.broadcasts_per_second, other.broadcasts_per_second),
    returned_frames: one.returned_frames + other.returned_frames,
    returned_per_second: one.returned_per_second + other.returned_per_second,
    in_loop: one.in_loop || other.in_loop,
    vlan: one.vlan ?? other.vlan,
  };
}

/**
 * Ids of the links that close loops, in linear time. The links over which frames return make a graph of nodes; its spanning forest stays,
 * all other links close a loop. VLANs are apart: a link of an access port counts in its VLAN, one of trunks or hubs in each.
 */
export function loopClosers(links: Iterable<StormyLink>): ReadonlySet<string> {
  const looping = [...links].filter(({ storm }) => storm.in_loop);
  const ofAll = looping.filter(({ storm }) => storm.vlan === null);
  const byVlan = Map.groupBy(
    looping.filter(({ storm }) => storm.vlan !== null),
    ({ storm }) => storm.vlan,
  );
  const shared = new Forest();
  const closers = new Set(shared.addAll(ofAll));
  for (const ofVlan of byVlan.values()) for (const id of new Forest(shared).addAll(ofVlan)) closers.add(id);
  return closers;
}

/** The figures for clients. */
export function linkStorm({ vlan: _, ...storm }: PortStorm, closes_loop: boolean): LinkStorm {
  return { ...storm, closes_loop };
}

/** Trees of nodes, each with one node that stands for it (union-find). */
class Forest {
  readonly #base: Forest | undefined;
  readonly #parents = new Map<string, string>();

  /** Trees of `base` are trees here; it no longer changes. */
  constructor(base?: Forest) {
    this.#base = base;
  }

  /** Adds links; returns the ids of those whose ends were in one tree before. */
  addAll(links: readonly StormyLink[]): string[] {
    return links.filter(({ nodeIds }) => !this.#join(nodeIds)).map(({ linkId }) => linkId);
  }

  #join([one, other]: readonly [string, string]): boolean {
    const [a, b] = [this.#rootOf(one), this.#rootOf(other)];
    if (a === b) return false;
    this.#parents.set(a, b);
    return true;
  }

  #rootOf(node: string): string {
    let root = this.#base ? this.#base.#rootOf(node) : node;
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) {
      const above = this.#parents.get(parent);
      if (above !== undefined) this.#parents.set(root, above);
      root = parent;
    }
    return root;
  }
}
