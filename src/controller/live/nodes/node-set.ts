/** The nodes of an open project as they are now: found by id, listed as objects of the API, their names kept apart. */
import { fault } from '../../../api/faults.ts';
import type { Problem } from '../../../schema/problem.ts';
import { NodeNames } from '../../model/names.ts';
import { findKind, lackIn, type NodeObject } from '../../model/node.ts';
import type { NodeEntry } from '../../model/topology.ts';
import type { NodeNeeds } from '../../placement/choose-compute.ts';
import { needsOf } from '../../placement/node-needs.ts';
import type { OpenNode } from './open-node.ts';

export class NodeSet {
  protected readonly names = new NodeNames();
  readonly #nodes = new Map<string, OpenNode>();
  readonly loads = new ComputeLoads();
  #list: readonly NodeObject[] | undefined;

  get size(): number {
    return this.#nodes.size;
  }

  list(): readonly NodeObject[] {
    this.#list ??= Object.freeze(Array.from(this.#nodes.values(), (node) => node.object));
    return this.#list;
  }

  all(): Iterable<OpenNode> {
    return this.#nodes.values();
  }

  ids(): string[] {
    return [...this.#nodes.keys()];
  }

  find(nodeId: string): OpenNode | undefined {
    return this.#nodes.get(nodeId);
  }

  /** @throws `node_not_found` */
  get(nodeId: string): OpenNode {
    const node = this.#nodes.get(nodeId);
    if (!node) throw fault('node_not_found', { node_id: nodeId });
    return node;
  }

  entries(): NodeEntry[] {
    return Array.from(this.#nodes.values(), (node) => node.entry);
  }

  /** Nodes that cannot be used, as their compute, image or emulator is not there, or whose start failed and is tried again. */
  problems(): Problem[] {
    return Array.from(this.#nodes.values()).flatMap(({ id, entry, live, shownProblem }) => {
      const message = shownProblem ?? lackIn(live.command_line);
      return message === undefined ? [] : [{ kind: 'node', id, name: entry.name, message }];
    });
  }

  isNamed(name: string): boolean {
    return this.names.has(name);
  }

  /** Whether a node with a process of its own runs. */
  get isRunning(): boolean {
    for (const { entry, live } of this.#nodes.values()) {
      if (live.status !== 'stopped' && !findKind(entry.node_type)?.alwaysRunning) return true;
    }
    return false;
  }

  /** Adds a node, whose name is taken already. */
  protected put(node: OpenNode): void {
    const before = this.#nodes.get(node.id);
    if (before) this.loads.remove(before.entry);
    this.#nodes.set(node.id, node);
    this.loads.add(node.entry);
    this.#list = undefined;
  }

  /** Removes a node and frees its name. */
  protected remove(node: OpenNode): void {
    this.#nodes.delete(node.id);
    this.loads.remove(node.entry);
    this.names.release(node.entry.name);
    this.#list = undefined;
  }

  /** @throws `undo_conflict` when it is another node's */
  protected reserve(name: string): void {
    if (this.names.has(name)) throw fault('undo_conflict', { reason: `another node has the name ${name} now` });
    this.names.reserve(name);
  }

  /** `name` is reserved; afterwards either it or the one before is free. */
  protected async renaming(node: OpenNode, name: string, change: () => Promise<void>): Promise<NodeObject> {
    const before = node.entry.name;
    try {
      await change();
    } catch (error) {
      if (name !== before) this.names.release(name);
      throw error;
    }
    if (name !== before) this.names.release(before);
    return node.object;
  }

  /** Replaces the entry of a node in this set. */
  protected setEntry(node: OpenNode, entry: NodeEntry): void {
    this.loads.remove(node.entry);
    node.setEntry(entry);
    this.loads.add(entry);
  }

  /** The object of a node is another one. */
  protected changed(): void {
    this.#list = undefined;
  }
}

/** Load of each compute: the needs of its nodes, updated as nodes are added, changed and removed. */
class ComputeLoads {
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
