/** The lease of a slice, as its machines follow it: they are paused when it is over, and nothing starts meanwhile. */
import { fault } from '../../../src/api/faults.ts';
import type { SimulatedCompute } from './compute.ts';
import type { KnownNode } from './compute-node.ts';
import type { ComputeWorld } from './compute-world.ts';

export class HeldMachines {
  readonly #compute: SimulatedCompute;
  readonly #world: ComputeWorld;
  /** Ids of the nodes whose machines were paused by the lease. */
  readonly #ids = new Set<string>();
  isHeld = false;
  /** Time after which the guard of a slice ends its machines. */
  deadline = Number.POSITIVE_INFINITY;
  /** Epoch of the lease; 0 without one. */
  epoch = 0;

  constructor(compute: SimulatedCompute, world: ComputeWorld) {
    this.#compute = compute;
    this.#world = world;
  }

  /** Returns the check that a start makes when it begins and again before its machine runs. It throws lease_expired. */
  checkOf({ fields }: KnownNode): () => void {
    const { epoch } = this;
    const name = String(fields.name);
    if (this.isHeld) throw fault('lease_expired', { name });
    return () => {
      if (this.#world.kernel.now >= this.deadline || this.epoch !== epoch) throw fault('lease_expired', { name });
    };
  }

  /** @throws request_outdated */
  refuseOutdated(epoch: string | undefined): void {
    if (Number(epoch) < this.epoch) throw fault('request_outdated', { epoch: Number(epoch), current: this.epoch });
  }

  has(nodeId: string): boolean {
    return this.#ids.has(nodeId);
  }

  hold(nodes: Iterable<KnownNode>): void {
    this.isHeld = true;
    for (const { node_id, status } of nodes) {
      const machine = this.#world.machines.on(this.#compute.id, node_id);
      if (!machine || machine.isPaused || status === 'suspended') continue;
      machine.isPaused = true;
      this.#ids.add(node_id);
      this.#world.happened(this.#compute, node_id, 'held');
    }
  }

  release(): void {
    this.isHeld = false;
    for (const nodeId of this.#ids) {
      const machine = this.#world.machines.on(this.#compute.id, nodeId);
      if (!machine) continue;
      machine.isPaused = false;
      this.#world.machines.check(nodeId);
      this.#world.happened(this.#compute, nodeId, 'not held');
    }
    this.#ids.clear();
  }

  /** No machine is left that could be continued. */
  clear(): void {
    this.#ids.clear();
  }

  /** Pauses or continues a machine; one that is to run stays paused while the lease is over. */
  setPaused(nodeId: string, isPaused: boolean): void {
    const machine = this.#world.machines.on(this.#compute.id, nodeId);
    if (machine) machine.isPaused = isPaused || this.isHeld;
    if (machine && !isPaused && this.isHeld) this.#ids.add(nodeId);
    else this.#ids.delete(nodeId);
    this.#world.machines.check(nodeId);
  }
}
