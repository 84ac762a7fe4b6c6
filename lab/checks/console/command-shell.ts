/** What carries commands out at a node: a console, or a connection by SSH. */
import type { RunResult } from '../definition/results.ts';

export interface CommandShell {
  /** @throws ConsoleError */
  run(command: string, signal: AbortSignal): Promise<RunResult>;
  close(): void;
  /** Closes it, and ends a command that runs too long as far as that is possible. */
  abandon(): void;
}

/** The lines of a command that are carried out. */
export function linesOf(command: string): string[] {
  return command.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trimEnd()]));
}
