/**
 * Wanted state of a node: whether it should run. It is written to the project's log before a request that changes it is answered,
 * and `reconcile/decide.ts` compares it with the state that the node's compute reports. Kinds that always run have none.
 */
import { oneOf, strict } from '../../schema/common.ts';
import { type Static, Type } from '../../schema/type.ts';

export const WantedRun = Type.Object(
  {
    run: oneOf(['running', 'stopped']),
    /** Grows with each change of `run`. A start carries it to the compute, which says with which one a machine was started. */
    generation: Type.Integer({ minimum: 0 }),
    /**
     * Source of the wish: a client's request; `auto_start` of its project; the memory of a snapshot; its guest, by switching it off, or its
     * emulator, by failing (`guest`); the compute, which refused to start it; or the controller, for a machine that it found running.
     */
    by: oneOf(['adopted', 'auto_start', 'client', 'closed', 'guest', 'refused', 'snapshot']),
    /**
     * Live move that was begun: ids of computes, until nothing of the machine is left where it does not run. The node's `compute_id` decides
     * where that is. `continued`: it was resumed at its new compute; from then on its user decides whether it runs.
     */
    move: Type.Optional(
      Type.Object({ from: Type.String(), to: Type.String(), continued: Type.Optional(Type.Literal(true)) }, strict),
    ),
  },
  strict,
);
export type WantedRun = Static<typeof WantedRun>;
export type PendingMove = NonNullable<WantedRun['move']>;

/** Wanted state of a node that was never started. */
export const notWanted: WantedRun = Object.freeze({ run: 'stopped', generation: 0, by: 'adopted' });

/**
 * The next state. Generations begin at the time of day: a node that is restored, or whose project is rewound, never has a number
 * again that a compute may know from a run before.
 */
export function wantedNext(before: WantedRun, run: WantedRun['run'], by: WantedRun['by'], now = Date.now()): WantedRun {
  return Object.freeze({ ...before, run, by, generation: Math.max(before.generation + 1, now) });
}

/** Returns the wanted states of nodes that continue from a snapshot. */
export function runningOf(nodeIds: Iterable<string>): Record<string, WantedRun> {
  return Object.fromEntries(Array.from(nodeIds, (id) => [id, wantedNext(notWanted, 'running', 'snapshot')]));
}
