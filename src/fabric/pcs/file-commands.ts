/** `save` and `load`: scripts in the PC's folder. */
import type { PcCommand } from './commands.ts';
import type { PcSettings } from './pc-shapes.ts';
import { type PcShell, shellTimer } from './shell.ts';
import { helpTexts } from './texts.ts';

const startup = 'startup.vpc';

export const save: PcCommand = (shell, words) => {
  const name = fileName(words);
  const canSave = shell.pc.options.saveFile !== undefined;
  if (name === undefined || !canSave) {
    shell.print(name === undefined ? (helpTexts.save ?? '') : "Can't save: this PC has no folder\n");
    return 'done';
  }
  running(shell, 'save', words[0]);
  return 'started';
};

export const load: PcCommand = (shell, words) => {
  if (fileName(words) === undefined) {
    shell.print(helpTexts.load ?? '');
    return 'done';
  }
  running(shell, 'load', words[0]);
  return 'started';
};

/** The base name with its extension; undefined: it is not one. */
function fileName(words: readonly string[]): string | undefined {
  const [name = startup] = words;
  const isName = words.length <= 1 && /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/.test(name);
  return isName ? (name.endsWith('.vpc') ? name : `${name}.vpc`) : undefined;
}

/** The job that waits for the file. It starts anew in a restored PC. */
export function running(shell: PcShell, kind: 'load' | 'save', typed?: string): void {
  const { host, pc } = shell;
  const name = fileName(typed === undefined ? [] : [typed]) ?? startup;
  let isStopped = false;
  const interrupt = () => {
    isStopped = true;
    host.clearTask(shellTimer);
  };
  const settle = (action: () => void) =>
    pc.enter(() => {
      if (isStopped) return;
      interrupt();
      action();
    });
  shell.setJob({ interrupt, state: () => ({ kind, ...(typed === undefined ? {} : { name: typed }) }) });
  if (kind === 'save') {
    const done = (text: string) => () => {
      shell.print(text);
      shell.finish();
    };
    pc.options.saveFile?.(name, scriptOf(host.settings)).then(
      () => settle(done('.  done\n')),
      () => settle(done(`Can't save "${typed ?? startup}"\n`)),
    );
    return;
  }
  const onText = (text: string | undefined) => {
    const title = `Executing the file "${typed ?? startup}"`;
    if (text !== undefined && shell.runScript(text, title)) {
      shell.finish('silent');
      return;
    }
    shell.print(text === undefined ? `Can't open "${typed ?? startup}"\n` : 'Scripts load each other too deep\n');
    shell.finish();
  };
  (pc.options.loadFile?.(name) ?? Promise.resolve(undefined)).then(
    (text) => settle(() => onText(text)),
    () => settle(() => onText(undefined)),
  );
}

/** Commands that make the settings again. */
export function scriptOf({ name, ip4, ip6, lease, dns, domain, mtu, dump }: PcSettings): string {
  const lines = [
    `set pcname ${name}`,
    ...(lease
      ? ['dhcp']
      : ip4
        ? [`ip ${[ip4.address, ip4.gateway, ip4.prefix].filter((part) => part !== undefined).join(' ')}`]
        : []),
    ...(ip6 ? [ip6.auto ? 'ip auto' : `ip ${ip6.address}/${ip6.prefix}${ip6.gateway === undefined ? '' : ` ${ip6.gateway}`}`] : []),
    ...(lease ? [] : dns.slice(0, 1).map((address) => `ip dns ${address}`)),
    ...(domain === undefined || lease ? [] : [`ip domain ${domain}`]),
    ...(mtu === 1500 ? [] : [`ip mtu ${mtu}`]),
    ...(dump ? [`set dump ${dump.join(' ')}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}
