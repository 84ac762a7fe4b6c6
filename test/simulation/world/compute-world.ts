/** The part of the simulated world that its computes use. */
import type { Kernel } from '../engine/kernel.ts';
import type { SimulatedCompute } from './compute.ts';
import type { Behaviour, Machines } from './machines.ts';

export interface ComputeWorld {
  readonly kernel: Kernel;
  readonly machines: Machines;
  /** Number of nodes for which each compute has memory. Undefined: many. */
  readonly room: number | undefined;
  behaviourOf(nodeId: string): Behaviour;
  /** A request arrived here. */
  arrived(compute: SimulatedCompute, verb: string, nodeId: string): void;
  /** Called when the node is started by the generation by which it ran when it ended by itself. */
  startedAgain(compute: SimulatedCompute, nodeId: string, endedAt: number): void;
  /** Something happened to a machine. */
  happened(compute: SimulatedCompute, nodeId: string, what: string): void;
  /** All of a machine was sent to another compute. */
  sent(nodeId: string): void;
}
