/** `sleep`: a pause, or a wait for a key. */
import type { PcCommand } from './commands.ts';
import { type PcShell, shellTimer } from './shell.ts';

const longestSeconds = 86_400;

export const sleep: PcCommand = (shell, words) => {
  const [first = '0', ...text] = words;
  const isNumber = /^\d+$/.test(first);
  const seconds = isNumber ? Math.min(Number(first), longestSeconds) : 0;
  const shown = isNumber ? text : words;
  const word = shown.length > 0 ? `${shown.join(' ')} ` : seconds > 0 ? '' : 'Press any key to continue';
  shell.print(`${word}\n`);
  if (seconds > 0) shell.host.timers.set(`task ${shellTimer} next`, seconds * 1000);
  sleeping(shell);
  return 'started';
};

export function sleeping(shell: PcShell): void {
  const { host } = shell;
  const interrupt = () => {
    host.clearTask(shellTimer);
    host.timers.clear(`task ${shellTimer} next`);
  };
  const end = () => {
    interrupt();
    shell.finish();
  };
  host.setTask(shellTimer, { onTimer: end });
  shell.setJob({ interrupt, onKey: end, state: () => ({ kind: 'sleep' }) });
}
