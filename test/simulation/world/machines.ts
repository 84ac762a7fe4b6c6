/** The machines of all hosts, and what is checked of them whenever one begins to run. */

/** Number in place of a generation of a machine that came from another compute. */
export const arrivedByMove = -1;

/** State of a machine on its host: it runs, or is paused. */
export interface Machine {
  readonly nodeId: string;
  /** The number that the controller gave with the start. */
  generation: number | undefined;
  isPaused: boolean;
}

/** Behaviour of the machines of a node. */
export interface Behaviour {
  readonly bootMs: number;
  readonly refuses: boolean;
  /** The guest switches it off as soon as it has booted. */
  readonly isShortLived: boolean;
}

export class Machines {
  /** Machines by the id of their node, and of each node by the compute that has the machine. */
  readonly #all = new Map<string, Map<string, Machine>>();
  readonly #violated: (what: string) => void;

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
  }

  begin(computeId: string, machine: Machine): void {
    const of = this.#all.get(machine.nodeId) ?? new Map<string, Machine>();
    this.#all.set(machine.nodeId, of);
    of.set(computeId, machine);
    this.check(machine.nodeId);
  }

  end(computeId: string, nodeId: string): boolean {
    return this.#all.get(nodeId)?.delete(computeId) === true;
  }

  /** Something of the host ended all that ran there. */
  endAll(computeId: string): void {
    for (const of of this.#all.values()) of.delete(computeId);
  }

  on(computeId: string, nodeId: string): Machine | undefined {
    return this.#all.get(nodeId)?.get(computeId);
  }

  /** Where a machine of the node is, by the ids of computes. */
  places(nodeId: string): string[] {
    return [...(this.#all.get(nodeId)?.keys() ?? [])];
  }

  /** Whether another program than the controller has started one of the node. */
  isOfOther(nodeId: string): boolean {
    return [...(this.#all.get(nodeId)?.values() ?? [])].some(({ generation }) => generation === undefined);
  }

  nodeIds(): string[] {
    return [...this.#all].filter(([, of]) => of.size > 0).map(([nodeId]) => nodeId);
  }

  check(nodeId: string): void {
    const running = [...(this.#all.get(nodeId) ?? [])].filter(([, { isPaused }]) => !isPaused).map(([computeId]) => computeId);
    if (running.length > 1) this.#violated(`two machines of one node run, on ${running.join(' and ')}`);
  }
}
