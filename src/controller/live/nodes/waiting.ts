/**
 * Says why a node does not run, cannot be used, or has to leave its compute: one sentence, which the API, the page, command lines and logs show.
 */
import type { RegisteredCompute } from '../../computes/compute.ts';

/** The last attempt to have it run as it is wanted, when it failed. */
export interface FailedStart {
  /** The generation of what was wanted. With another one, or another compute or lease, a start is tried at once. */
  readonly generation: number;
  readonly compute: RegisteredCompute | undefined;
  readonly epoch: number | null | undefined;
  /** Number of consecutive failures. */
  readonly count: number;
  /** The node is fine: its compute is busy, or cannot be reached. */
  readonly isOfCompute: boolean;
  /** Ms of `performance.now`. */
  readonly notBefore: number;
  /** Reason for people. */
  readonly reason: string;
}

/** The last attempt to move it away from its compute, when it failed. */
export type FailedMove = Pick<FailedStart, 'compute' | 'epoch' | 'count' | 'notBefore' | 'reason'>;

/** A compute that does not say how runs end is known by what was seen of it. */
export type SeenRunning = Pick<FailedStart, 'generation' | 'compute' | 'epoch'>;

/** The reason, as a node's compute or `reconcile/` found it. */
export interface WaitCause {
  readonly reason: string;
  /** Number of failed attempts; 0: none was made. */
  readonly attempts: number;
}

export interface NodeWait extends WaitCause {
  /** ISO 8601. */
  readonly since: string;
}

/** A node waits since it began to, also when the reason is another one by now. */
export function waitingFor(cause: WaitCause | undefined, before: NodeWait | undefined): NodeWait | undefined {
  return cause && { ...cause, since: before?.since ?? new Date().toISOString() };
}

export function sayWaiting({ reason, since, attempts }: NodeWait): string {
  const tried = attempts === 0 ? '' : `, tried ${attempts === 1 ? 'once' : `${attempts} times`}`;
  return `${reason.replace(/\.$/, '')} (since ${since.slice(0, 19).replace('T', ' ')} UTC${tried})`;
}
