/** Runs a command of the command line. Exit codes: 0 done, 1 failed, 2 there are changes (`plan` and `diff`), 130 Ctrl-C. */
import { parseArgs } from 'node:util';
import { LabError } from '../lab/file/lab-error.ts';
import { serverAddress } from './address.ts';
import { type CliCall, type CliCommand, type CliOption, CliUsageError } from './command.ts';
import { cliCommands, findCommand } from './commands.ts';
import { tableLines, terminalOutput } from './output.ts';
import { RequestError, ServerClient } from './server-client.ts';

/** Runs a command line. `argv`: from the first word on, such as `lab`. */
export async function runCli(argv: readonly string[]): Promise<number> {
  const words = argv.filter((word) => word !== '--help' && word !== '-h');
  const command = findCommand(argv);
  if (!command) {
    const [group = ''] = words;
    process[words.length > 1 ? 'stderr' : 'stdout'].write(`${groupHelp(group, cliCommands)}\n`);
    return words.length > 1 ? 1 : 0;
  }
  const given = argv.slice(command.name.split(' ').length);
  const own = given.includes('--') ? given.slice(0, given.indexOf('--')) : given;
  if (own.includes('--help') || own.includes('-h')) {
    process.stdout.write(`${commandHelp(command)}\n`);
    return 0;
  }
  const aborter = new AbortController();
  const stop = (): void => {
    // A second Ctrl-C ends the process at once.
    if (aborter.signal.aborted) process.exit(130);
    aborter.abort(new Error('interrupted'));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosed);
  try {
    return await command.run(await callOf(command, given, aborter.signal));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return 0;
    // A question handles Ctrl-C itself.
    if (aborter.signal.aborted || (error as Error).name === 'AbortError') {
      process.stderr.write('patchbay: interrupted; what is done stays. Run the command again to continue\n');
      return 130;
    }
    return report(error, command);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** Ignores EPIPE: a reader such as `head` may close its end early, and the command continues. */
function ignoreClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

async function callOf(command: CliCommand, given: readonly string[], signal: AbortSignal): Promise<CliCall> {
  const dashes = command.takesRest ? given.indexOf('--') : -1;
  const own = dashes === -1 ? given : given.slice(0, dashes);
  const { values, positionals } = parse(command, own);
  const url = typeof values.url === 'string' ? values.url : undefined;
  const user = typeof values.user === 'string' ? values.user : undefined;
  return {
    args: positionals,
    rest: dashes === -1 ? [] : given.slice(dashes + 1),
    options: values as CliCall['options'],
    api: new ServerClient(await serverAddress({ url, user }), signal),
    out: terminalOutput(values.json === true),
    signal,
  };
}

function parse({ name, options }: CliCommand, args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(options).map(([key, { value, short, multiple }]) => [
          key,
          {
            type: value === undefined ? ('boolean' as const) : ('string' as const),
            ...(short && { short }),
            ...(multiple && { multiple }),
          },
        ]),
      ),
    });
  } catch (error) {
    throw new CliUsageError(`${(error as Error).message.split('. ')[0]}. See: patchbay ${name} --help`);
  }
}

/** Prints an error: on one line where the user can fix it. */
function report(error: unknown, { name, mistakeCode = 1 }: CliCommand): number {
  if (error instanceof CliUsageError) {
    process.stderr.write(`patchbay ${name}: ${error.message}\n`);
    return mistakeCode;
  }
  const isExpected =
    error instanceof LabError || error instanceof RequestError || (error as NodeJS.ErrnoException).code !== undefined;
  process.stderr.write(`patchbay ${name}: ${isExpected ? (error as Error).message : (error as Error).stack}\n`);
  return 1;
}

/** Formats the help of a group: usage and commands. */
function groupHelp(group: string, commands: readonly CliCommand[]): string {
  const own = commands.filter(({ name }) => name.startsWith(`${group} `) || name === group);
  const rows = own.map(({ name, args, summary }) => [`  ${name} ${args}`.trimEnd(), summary]);
  return [
    `Usage: patchbay ${group} COMMAND [options]`,
    '',
    ...tableLines(rows),
    '',
    `patchbay ${group} COMMAND --help shows the options of a command and examples.`,
  ].join('\n');
}

/** Formats the help of a command: usage, options, examples. */
function commandHelp({ name, args, summary, options, examples }: CliCommand): string {
  const rows = Object.entries<CliOption>(options).map(([key, option]) => [`  ${optionText(key, option)}`, option.description]);
  return [
    `Usage: patchbay ${name} ${args}${args ? ' ' : ''}[options]`,
    '',
    `${summary}.`,
    ...(rows.length > 0 ? ['', 'Options', ...tableLines(rows)] : []),
    ...(examples.length > 0 ? ['', 'Examples', ...examples.flatMap(({ line, does }) => [`  ${line}`, `      ${does}`])] : []),
  ].join('\n');
}

function optionText(key: string, { value, short }: CliOption): string {
  return `${short ? `-${short}, ` : ''}--${key}${value ? ` ${value}` : ''}`;
}
