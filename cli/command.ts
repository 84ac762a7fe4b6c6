/** Declares a command of the command line; parsing, help and completion derive from the declaration. */
import type { ServerClient } from './server-client.ts';

export interface CliOption {
  /** Name of the option's value, in capitals; absent: the option is a flag. */
  readonly value?: string;
  readonly short?: string;
  /** The option may be given several times. */
  readonly multiple?: true;
  readonly description: string;
  /** The shell completes the value with file names. */
  readonly isFile?: true;
}

interface CliExample {
  readonly line: string;
  readonly does: string;
}

export interface CliCommand {
  /** The command as typed: `lab apply`. */
  readonly name: string;
  /** Arguments, as help shows them: `[FILE]`. */
  readonly args: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, CliOption>>;
  readonly examples: readonly CliExample[];
  /** The arguments are file names. */
  readonly takesFiles?: true;
  /** The command parses the words after `--`. */
  readonly takesRest?: true;
  /** The command needs no server. */
  readonly isLocal?: true;
  /** Exit code of a usage error; default 1. */
  readonly mistakeCode?: number;
  /** The command is a tool of `patchbay mcp`; absent: agents cannot use it. */
  readonly agent?: AgentUse;
  /** Runs the command. @returns the exit code */
  readonly run: (call: CliCall) => Promise<number>;
}

/** Rules for agents that use a command. */
interface AgentUse {
  readonly effect: 'reads' | 'changes';
  /** Options that agents may give. */
  readonly options: readonly string[];
  /** Exit codes besides 0 that are results, not errors. */
  readonly results?: readonly number[];
}

export interface CliCall {
  readonly args: readonly string[];
  /** Words after `--`. */
  readonly rest: readonly string[];
  /** Text of a lab file that an agent sent; its relative paths refer to the current folder. */
  readonly labText?: string;
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  /** Client of the server; local commands do not use it. */
  readonly api: ServerClient;
  readonly out: CliOutput;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface CliOutput {
  /** Whether `--json` was given: the result is one JSON document on standard output. */
  readonly isJson: boolean;
  /** Prints a line of the result. */
  print(line: string): void;
  /** Writes a part of the result, without a line end. */
  write(text: string): void;
  /** Prints the result as JSON. */
  json(value: unknown): void;
  /** Prints a remark for the user on standard error. */
  note(line: string): void;
  style(style: 'red' | 'green' | 'yellow' | 'dim' | 'bold', text: string): string;
  table(columns: readonly string[], rows: readonly (readonly string[])[]): void;
}

/** A usage error of the command line. */
export class CliUsageError extends Error {
  override readonly name = 'CliUsageError';
}

export const serverOptions = {
  url: { value: 'URL', description: 'Address of the server (default $PATCHBAY_URL, else http://127.0.0.1:3080)' },
  user: { value: 'NAME', description: 'User (default $PATCHBAY_USER, else the netrc file); the password is never an option' },
  json: { description: 'Print the result as JSON' },
} as const satisfies Record<string, CliOption>;

export const projectOption = {
  project: {
    value: 'PROJECT',
    short: 'p',
    description: 'Name or id of the project (default $PATCHBAY_PROJECT, else that of ./lab.yaml, else the only open one)',
  },
} as const satisfies Record<string, CliOption>;

export const varOption = {
  var: {
    value: 'NAME=VALUE',
    multiple: true,
    description: 'A variable of the lab file; a number, true or false counts as such unless it is in quotes',
  },
} as const satisfies Record<string, CliOption>;

export function textOption({ options }: CliCall, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Prints a list: as JSON as it is, or as a table with a row for each of its things. */
export function printList<T>(
  { out }: Pick<CliCall, 'out'>,
  list: readonly T[],
  columns: readonly string[],
  rowOf: (one: T) => readonly string[],
): void {
  if (out.isJson) out.json(list);
  else out.table(columns, list.map(rowOf));
}
