/** The commands of a PC by name, and how a line becomes one. */

import { load, save } from './file-commands.ts';
import { dhcp, ip } from './ip-commands.ts';
import { ping } from './ping-command.ts';
import { rlogin } from './rlogin-command.ts';
import { set } from './set-commands.ts';
import type { CommandOutcome, PcShell } from './shell.ts';
import { arp, clear, show } from './show-commands.ts';
import { sleep } from './sleep-command.ts';
import { commandList, helpTexts, version } from './texts.ts';
import { trace } from './trace-command.ts';

/** Runs a command with the words after its name; `rest` is the text after it. */
export type PcCommand = (shell: PcShell, words: readonly string[], rest: string) => CommandOutcome;

const printed =
  (text: string): PcCommand =>
  (shell) => {
    shell.print(text);
    return 'done';
  };

const commands: Readonly<Record<string, PcCommand>> = {
  '?': printed(commandList),
  arp,
  clear,
  dhcp,
  disconnect: (shell) => {
    shell.print('\nGood-bye\n');
    shell.pc.options.onDisconnect?.();
    return 'silent';
  },
  echo: (shell, _, rest) => {
    shell.print(`${rest.slice(1).trimEnd()}\n`);
    return 'silent';
  },
  help: printed(commandList),
  history: (shell) => {
    shell.print(shell.editor.history.map((line) => `${line}\n`).join(''));
    return 'done';
  },
  ip,
  load,
  ping,
  quit: (shell) => {
    shell.pc.quit();
    return 'silent';
  },
  relay: printed('A PC in the fabric relays no packets: connect its port by links.\n'),
  rlogin,
  save,
  set,
  show,
  sleep,
  trace,
  version: printed(version),
};
const names = Object.keys(commands);
/** Commands whose lines `set echo on` does not show. */
const unechoed = /^\s*(echo\b|sleep\s+\S+\s+\S)/;

/** Runs a line that is not empty. */
export function runLine(shell: PcShell, line: string, isScript: boolean): CommandOutcome {
  const [, verb = '', rest = ''] = /^\s*(\S+)(.*)$/s.exec(line) ?? [];
  if (verb.startsWith('!')) {
    shell.print('Commands of the host cannot be run here.\n');
    return 'done';
  }
  const found = Object.hasOwn(commands, verb) ? [verb] : names.filter((name) => name.startsWith(verb));
  if (found.length > 1) {
    shell.print(found.map((name) => `${name}\n`).join(''));
    return 'done';
  }
  const name = found[0];
  if (name === undefined) {
    shell.print(`Bad command: "${line.trim()}". Use ? for help.\n`);
    return 'done';
  }
  const words = rest.split(/\s+/).filter((word) => word !== '');
  if (isScript && shell.host.settings.echo && !unechoed.test(line)) shell.print(`${shell.host.settings.name}[1] ${line.trim()}\n`);
  const help = helpTexts[name];
  if (help !== undefined && name !== 'echo' && words.at(-1) === '?') {
    const detail = helpTexts[`${name} ${words[0]}`];
    shell.print(words.length > 1 && detail !== undefined ? detail : help);
    return 'done';
  }
  return (commands[name] as PcCommand)(shell, words, rest);
}
