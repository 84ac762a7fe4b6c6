/** Help of the commands: usage, options, examples. */
import type { CliCommand, CliOption } from './command.ts';
import { tableLines } from './output.ts';

export function groupHelp(group: string, commands: readonly CliCommand[]): string {
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

export function commandHelp({ name, args, summary, options, examples }: CliCommand): string {
  const rows = Object.entries<CliOption>(options).map(([key, option]) => [`  ${optionText(key, option)}`, option.description]);
  return [
    `Usage: patchbay ${name} ${args}${args ? ' ' : ''}[options]`,
    '',
    `${summary}.`,
    ...(rows.length > 0 ? ['', 'Options', ...tableLines(rows)] : []),
    ...(examples.length > 0 ? ['', 'Examples', ...examples.flatMap(({ line, does }) => [`  ${line}`, `      ${does}`])] : []),
  ].join('\n');
}

export function optionText(key: string, { value, short }: CliOption): string {
  return `${short ? `-${short}, ` : ''}--${key}${value ? ` ${value}` : ''}`;
}
