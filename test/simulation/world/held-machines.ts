/** Machines of a slice that are paused because its lease is over; nothing starts meanwhile. */
import type { KnownNode } from './compute-node.ts';
import type { Machines } from './machines.ts';

export class HeldMachines {
  readonly #computeId: string;
  readonly #machines: Machines;
  readonly #happened: (nodeId: string, what: string) => void;
  /** Ids of the nodes whose machines were paused by the lease. */
  readonly #ids = new Set<string>();
  isHeld = false;

  constructor(computeId: string, machines: Machines, happened: (nodeId: string, what: string) => void) {
    this.#computeId = computeId;
    this.#machines = machines;
    this.#happened = happened;
  }

  has(nodeId: string): boolean {
    return this.#ids.has(nodeId);
  }

  hold(nodes: Iterable<KnownNode>): void {
    this.isHeld = true;
    for (const { node_id, status } of nodes) {
      const machine = this.#machines.on(this.#computeId, node_id);
      if (!machine || machine.isPaused || status === 'suspended') continue;
      machine.isPaused = true;
      this.#ids.add(node_id);
      this.#happened(node_id, 'held');
    }
  }

  release(): void {
    this.isHeld = false;
    for (const nodeId of this.#ids) {
      const machine = this.#machines.on(this.#computeId, nodeId);
      if (!machine) continue;
      machine.isPaused = false;
      this.#machines.check(nodeId);
      this.#happened(nodeId, 'not held');
    }
    this.#ids.clear();
  }

  /** No machine is left that could be continued. */
  clear(): void {
    this.#ids.clear();
  }

  /** Pauses or continues a machine; one that is to run stays paused while the lease is over. */
  setPaused(nodeId: string, isPaused: boolean): void {
    const machine = this.#machines.on(this.#computeId, nodeId);
    if (machine) machine.isPaused = isPaused || this.isHeld;
    if (machine && !isPaused && this.isHeld) this.#ids.add(nodeId);
    else this.#ids.delete(nodeId);
    this.#machines.check(nodeId);
  }
}
