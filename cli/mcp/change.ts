/** A change that an agent makes: previewed, then made, then undone as one step. */
import type { CliCall } from '../command.ts';

export interface AgentChange {
  /** What it would do now. The change is refused when this text has changed since the agent read it. */
  readonly preview: string;
  /** Whether, and how, it can be undone. */
  readonly undo: string;
  make(): Promise<MadeChange>;
}

export interface MadeChange {
  readonly text: string;
  readonly isError?: boolean;
  /** Absent: there is nothing to undo, or it cannot be undone. */
  readonly undo?: Undo;
}

export interface Undo {
  /** What undoing does. */
  readonly does: string;
  /** @throws the reason for which it cannot be undone any more */
  run(): Promise<string>;
}

/** Reads the state of the server and plans a change. `call.api` names this change in the history of projects as `client`. */
export type PlanChange = (call: CliCall, client: string) => Promise<AgentChange>;
