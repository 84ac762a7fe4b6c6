/** Defines a change of an agent: it is previewed, then made, then undone as one step. */
import type { CliCall } from '../command.ts';

export interface AgentChange {
  /** Effect of the change now. The change is refused when this text has changed since the agent read it. */
  readonly preview: string;
  /** Whether and how the change can be undone. */
  readonly undo: string;
  make(): Promise<MadeChange>;
}

export interface MadeChange {
  readonly text: string;
  readonly isError?: boolean;
  /** Absent: there is nothing to undo, or undo is not possible. */
  readonly undo?: Undo;
}

export interface Undo {
  /** Effect of the undo. */
  readonly does: string;
  /** Undoes the change. @throws the reason why it can no longer be undone */
  run(): Promise<string>;
}

/** Reads the state of the server and plans a change. `call.api` names this change in the history of projects as `client`. */
export type PlanChange = (call: CliCall, client: string) => Promise<AgentChange>;
