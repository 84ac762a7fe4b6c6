/** A shell runs commands at a node: over a console, or over SSH. */
import type { RunResult } from '../definition/results.ts';

export interface CommandShell {
  /** Runs a command. @throws ConsoleError */
  run(command: string, signal: AbortSignal): Promise<RunResult>;
  close(): void;
  /** Closes the shell, and ends a command that runs too long as far as possible. */
  abandon(): void;
}

/** Returns the lines of a command, without empty ones. */
export function linesOf(command: string): string[] {
  return command.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trimEnd()]));
}
