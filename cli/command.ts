/** What a command of the command line is: its declaration, from which parsing, help and completion follow. */
import type { ServerClient } from './server-client.ts';

export interface CliOption {
  /** What it takes, in capitals; absent: it is a flag. */
  readonly value?: string;
  readonly short?: string;
  /** May be given several times. */
  readonly multiple?: true;
  readonly description: string;
  /** Completed by names of files. */
  readonly isFile?: true;
}

export interface CliExample {
  readonly line: string;
  readonly does: string;
}

export interface CliCommand {
  /** As it is typed: `lab apply`. */
  readonly name: string;
  /** Arguments for help: `[FILE]`. */
  readonly args: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, CliOption>>;
  readonly examples: readonly CliExample[];
  /** Its arguments are names of files. */
  readonly takesFiles?: true;
  /** What follows `--` is its own. */
  readonly takesRest?: true;
  /** Needs no server. */
  readonly isLocal?: true;
  /** Exit code of a mistake in what was typed; default 1. */
  readonly mistakeCode?: number;
  /** A tool of `patchbay mcp`; absent: agents do not have it. */
  readonly agent?: AgentUse;
  /** @returns the exit code */
  readonly run: (call: CliCall) => Promise<number>;
}

/** How agents may use a command. */
export interface AgentUse {
  readonly effect: 'reads' | 'changes';
  /** The options that they may give. */
  readonly options: readonly string[];
  /** Exit codes besides 0 that are results, not errors. */
  readonly results?: readonly number[];
}

export interface CliCall {
  readonly args: readonly string[];
  /** Behind `--`. */
  readonly rest: readonly string[];
  /** A lab file that stands in no file: what it names is in the current folder. */
  readonly labText?: string;
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  /** Of the server that the command talks to; for local commands, none. */
  readonly api: ServerClient;
  readonly out: CliOutput;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface CliOutput {
  /** `--json` was given: results are one JSON document on standard output. */
  readonly isJson: boolean;
  /** A line of the result. */
  print(line: string): void;
  /** A part of the result as it is, without a line end. */
  write(text: string): void;
  /** The result for programs. */
  json(value: unknown): void;
  /** A remark for people, on standard error. */
  note(line: string): void;
  style(style: 'red' | 'green' | 'yellow' | 'dim' | 'bold', text: string): string;
  table(columns: readonly string[], rows: readonly (readonly string[])[]): void;
}

/** A mistake in what was typed. */
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
