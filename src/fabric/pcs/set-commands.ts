/** `set`: name, echo of scripts, dump of frames, MTU. */
import type { PcCommand } from './commands.ts';
import { setMtu } from './ip-commands.ts';
import type { PcShell } from './shell.ts';
import { helpTexts } from './texts.ts';

const dumpFlags = ['mac', 'raw', 'detail', 'all'];
const mostName = 64;

export const set: PcCommand = (shell, words) => {
  const [first, second, ...rest] = words;
  if (first === undefined) {
    shell.print(helpTexts.set ?? '');
    return 'done';
  }
  const name = ['lport', 'rport', 'rhost', 'pcname', 'echo', 'dump', 'mtu'].find((each) => each.startsWith(first));
  const isComplete = second !== undefined && rest.length === 0;
  if (name === undefined) shell.print('Invalid command.\n');
  else if (name === 'dump') setDump(shell, words.slice(1));
  else if (!isComplete) shell.print('Incomplete command.\n');
  else if (name === 'pcname') setName(shell, second);
  else if (name === 'mtu') setMtu(shell, second);
  else if (name === 'echo') {
    if (second === 'on' || second === 'off') shell.host.change({ echo: second === 'on' || undefined });
  } else shell.print(`The port of a PC in the fabric has no ${name}: connect it by links.\n`);
  return 'done';
};

function setName({ host }: PcShell, name: string): void {
  if (name.length > mostName) host.print(`Hostname is too long. (should be at most ${mostName})\n`);
  else host.change({ name });
}

function setDump({ host }: PcShell, words: readonly string[]): void {
  if (words.length === 0) return;
  if (!words.every((word) => [...dumpFlags, 'off'].includes(word))) {
    host.print('Invalid options\n');
    return;
  }
  const before = words.includes('off') ? [] : (host.settings.dump ?? []);
  const flags = dumpFlags.filter((flag) => before.includes(flag) || words.includes(flag));
  host.change({ dump: flags.length ? flags : undefined });
  host.print(`\ndump flags: ${flags.join(' ') || '(none)'}\n`);
}
