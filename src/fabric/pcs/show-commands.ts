/** `show`, `arp` and `clear`. */

import { isIp6 } from './addresses.ts';
import type { PcCommand } from './commands.ts';
import type { PcShell } from './shell.ts';
import { helpTexts, version } from './texts.ts';

/** A PC in the fabric has no UDP ports; scripts read these columns all the same. */
const ports = { local: '0', remote: '127.0.0.1:0' };

export const show: PcCommand = (shell, words) => {
  const [first, second] = words;
  const topics = {
    arp: showArp,
    dump: showDump,
    echo: showEcho,
    history: showHistory,
    ip: showIp,
    ipv6: showIp6,
    version: showVersion,
  };
  // vpcs takes the last of the names that begin so.
  const name = first === 'ip' ? first : Object.keys(topics).findLast((each) => first !== undefined && each.startsWith(first));
  if (words.length > 2 || (second !== undefined && second !== 'all' && !/^\d$/.test(second))) shell.print(helpTexts.show ?? '');
  else if (first === undefined) showAll(shell);
  else if (name === undefined) shell.print('Invalid arguments\n');
  else topics[name as keyof typeof topics](shell, second === 'all');
  return 'done';
};

export const arp: PcCommand = (shell, words) => show(shell, ['arp', ...words], '');

export const clear: PcCommand = (shell, [what]) => {
  const { host } = shell;
  const name = ['ip', 'ipv6', 'arp', 'neighbor', 'history'].find((each) => what !== undefined && each.startsWith(what));
  if (what === undefined) shell.print(helpTexts.clear ?? '');
  else if (name === 'ip') {
    host.dhcp.stop();
    host.dhcp.forget();
    host.change({ dns: [], domain: undefined });
    shell.print('IPv4 address/mask, gateway, DNS, and DHCP cleared\n');
  } else if (name === 'ipv6') {
    host.change({ ip6: undefined, router6: undefined, mtu6: undefined, dns6: undefined });
    shell.print('IPv6 address/mask and router link-layer address cleared\n');
  } else if (name === 'arp' || name === 'neighbor') host.neighbours.clear(name === 'neighbor');
  else if (name === 'history') {
    shell.editor.history = [];
    shell.editor.clear();
  } else shell.print('Invalid options\n');
  return 'done';
};

function showAll({ host }: PcShell): void {
  const { name, ip4, ip6 } = host.settings;
  const address = `${ip4?.address ?? '0.0.0.0'}/${ip4?.prefix ?? 0}`;
  const row = (cells: readonly string[]) =>
    `${[7, 21, 18, 19, 7].map((width, at) => (cells[at] ?? '').padEnd(width - 1)).join(' ')} ${cells[5] ?? ''}\n`;
  host.print(
    `\n${row(['NAME', 'IP/MASK', 'GATEWAY', 'MAC', 'LPORT', 'RHOST:PORT'])}` +
      row([name, address, ip4?.gateway ?? '0.0.0.0', host.mac, ports.local, ports.remote]) +
      `       ${host.linkLocal}/64\n${ip6 ? `       ${ip6.address}/${ip6.prefix} ${ip6.auto ? 'eui-64' : ''}\n` : ''}`,
  );
}

function showIp({ host }: PcShell, isTable: boolean): void {
  const { name, ip4, dns, domain, lease, mtu } = host.settings;
  const address = `${ip4?.address ?? '0.0.0.0'}/${ip4?.prefix ?? 0}`;
  const gateway = ip4?.gateway ?? '0.0.0.0';
  if (isTable) {
    const row = (cells: readonly string[]) =>
      `${[7, 21, 18, 19].map((width, at) => (cells[at] ?? '').padEnd(width - 1)).join(' ')} ${cells[4] ?? ''}\n`;
    host.print(`\n${row(['NAME', 'IP/MASK', 'GATEWAY', 'MAC', 'DNS'])}${row([name, address, gateway, host.mac, dns.join('  ')])}`);
    return;
  }
  const rows: [string, string | undefined][] = [
    ['NAME', `${name}[1]`],
    ['IP/MASK', address],
    ['GATEWAY', gateway],
    ['DNS', dns.length ? `${dns[0]}  ${dns[1] ?? ''}` : ''],
    ['DHCP SERVER', lease?.server],
    ['DOMAIN NAME', domain],
    ['MAC', host.mac],
    ['LPORT', ports.local],
    ['RHOST:PORT', ports.remote],
    ['MTU:', String(mtu)],
  ];
  host.print(`\n${linesOf(rows, 12)}`);
}

function showIp6({ host }: PcShell, isTable: boolean): void {
  const { name, ip6, router6, mtu6, dns6 } = host.settings;
  const own = ip6 ? `${ip6.address}/${ip6.prefix}` : '';
  const mtu = mtu6 === undefined ? '' : String(mtu6);
  if (isTable) {
    const width = Math.max(own.length, 7) + 2;
    const first = `${name.padEnd(6)} ${host.linkLocal}/64\n`;
    const second = ip6 ? `       ${own.padEnd(width)}${(router6?.mac ?? '').padEnd(19)}${mtu}\n` : '';
    host.print(`\nNAME   ${'IP/MASK'.padEnd(width)}ROUTER LINK-LAYER  MTU\n${first}${second}`);
    return;
  }
  const rows: [string, string | undefined][] = [
    ['NAME', `${name}[1]`],
    ['LINK-LOCAL SCOPE', `${host.linkLocal}/64`],
    ['GLOBAL SCOPE', own],
    ['GATEWAY', ip6?.gateway],
    ['DNS', dns6?.join('  ')],
    ['ROUTER LINK-LAYER', router6?.mac ?? ''],
    ['MAC', host.mac],
    ['LPORT', ports.local],
    ['RHOST:PORT', ports.remote],
    ['MTU:', mtu],
  ];
  host.print(`\n${linesOf(rows, 18)}`);
}

/** Rows without a value are left out. */
function linesOf(rows: readonly [string, string | undefined][], width: number): string {
  return rows.flatMap(([title, value]) => (value === undefined ? [] : [`${title.padEnd(width)}: ${value}\n`])).join('');
}

function showArp({ host }: PcShell, isTable: boolean): void {
  const entries = host.neighbours.entries().filter(({ address }) => !isIp6(address));
  const lines = entries.map(
    ({ address, mac, remainingMs }) => `${mac}  ${address} expires in ${Math.floor(remainingMs / 1000)} seconds \n`,
  );
  host.print(`\n${isTable ? `${host.settings.name}[1]:\n` : ''}${lines.join('') || 'arp table is empty\n'}`);
}

function showDump({ host }: PcShell, isTable: boolean): void {
  const flags = host.settings.dump?.join(' ') ?? '(none)';
  host.print(isTable ? `\n${host.settings.name}[1] dumpflag: ${flags}\n` : `\ndump flags: ${flags}\n`);
}

function showEcho({ host }: PcShell): void {
  host.print(`\nEcho ${host.settings.echo ? 'On' : 'Off'}\n`);
}

function showHistory({ host, editor }: PcShell): void {
  host.print(editor.history.map((line) => `${line}\n`).join(''));
}

function showVersion({ host }: PcShell): void {
  host.print(version);
}
