import type { NodeEntry } from '../model/topology.ts';
import type { NodeNeeds } from './choose-compute.ts';
import { needsOf } from './node-needs.ts';

/** Load of each compute: the needs of its nodes, updated as nodes are added, changed and removed. */
export class ComputeLoads {
  /** Sums by compute. Thousandths of a processor, as sums of fractions would drift. */
  readonly #sums = new Map<string, { nodes: number; milliCpus: number; memory: number }>();

  add(entry: NodeEntry): void {
    this.#count(entry, 1);
  }

  /** `entry`: as it was added. */
  remove(entry: NodeEntry): void {
    this.#count(entry, -1);
  }

  *entries(): Iterable<[string, NodeNeeds]> {
    for (const [computeId, { milliCpus, memory }] of this.#sums) yield [computeId, { cpus: milliCpus / 1000, memory }];
  }

  #count({ compute_id, node_type, properties }: NodeEntry, sign: 1 | -1): void {
    const { cpus, memory } = needsOf(node_type, properties);
    const sum = this.#sums.get(compute_id) ?? { nodes: 0, milliCpus: 0, memory: 0 };
    sum.nodes += sign;
    sum.milliCpus += sign * Math.round(1000 * cpus);
    sum.memory += sign * memory;
    if (sum.nodes === 0) this.#sums.delete(compute_id);
    else this.#sums.set(compute_id, sum);
  }
}
