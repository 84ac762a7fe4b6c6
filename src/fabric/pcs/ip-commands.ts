/** `ip` and `dhcp`: addresses that are typed, obtained by DHCP, or made from a router advertisement. */
import { isInSubnet, isIp6, isLoopback, isMulticast, maskText, prefixOfMask, readAddress, withHostBits } from './addresses.ts';
import type { PcCommand } from './commands.ts';
import { describeDhcp, dhcpTypes } from './dhcp-message.ts';
import type { PcHost } from './host.ts';
import type { IpSetting } from './pc-shapes.ts';
import { type PcShell, shellTimer } from './shell.ts';
import { helpTexts } from './texts.ts';

const routerTries = 3;
const routerPauseMs = 1000;
const mtus = { smallest: 576, largest: 9216 };

export const ip: PcCommand = (shell, words) => {
  const [first, second] = words;
  const { host } = shell;
  const is = (name: string) => first !== undefined && first !== '' && name.startsWith(first);
  if (first === undefined) shell.print(helpTexts.ip ?? '');
  else if (is('auto')) return auto(shell);
  else if (is('dhcp')) return dhcp(shell, words.slice(1), '');
  else if (is('dns')) setDns(shell, second);
  else if (is('domain')) {
    if (second === undefined || words.length > 2) shell.print('Incomplete command.\n');
    else host.change({ domain: second.slice(0, 253) });
  } else if (is('mtu')) setMtu(shell, second);
  else return setAddress(shell, words);
  return 'done';
};

export const dhcp: PcCommand = (shell, words) => {
  const { host } = shell;
  const [option] = words;
  if (option === '-x') host.dhcp.release();
  if (option !== undefined && !['-d', '-r', '-x'].includes(option)) shell.print(helpTexts.ip ?? '');
  if (option !== undefined && option !== '-d' && option !== '-r') return 'done';
  obtaining(shell, { isVerbose: option === '-d' });
  return 'started';
};

export function setMtu(shell: PcShell, text = ''): void {
  const mtu = Number(text);
  if (!/^\d{1,6}$/.test(text)) shell.print(helpTexts['ip mtu'] ?? '');
  else if (mtu < mtus.smallest) shell.print('Invalid MTU, should bigger than 576\n');
  else shell.host.change({ mtu: Math.min(mtu, mtus.largest) });
}

function setDns({ host }: PcShell, text: string | undefined): void {
  const address = readAddress(text ?? '');
  if (text === undefined) return;
  if (text === '0') host.change({ dns: [], dns6: undefined });
  else if (address === undefined) host.print('Invalid address\n');
  else if (isIp6(address)) host.change({ dns6: [address] });
  else host.change({ dns: [address] });
}

function setAddress(shell: PcShell, words: readonly string[]): 'done' | 'started' {
  const [first = ''] = words;
  const [typed = ''] = first.split('/');
  const address = readAddress(typed);
  const is6 = typed.includes(':');
  if (address === undefined || address === '0.0.0.0' || address === '255.255.255.255') {
    shell.print(is6 ? 'Invalid ipv6 address.\n' : 'Invalid address\n');
    return 'done';
  }
  const found = readSetting(
    address,
    [first.slice(typed.length), ...words.slice(1)].filter((word) => word !== ''),
  );
  if (typeof found === 'string') {
    shell.print(`${found}\n`);
    return 'done';
  }
  const gateway = found.gateway === undefined ? '' : ` gateway ${found.gateway}`;
  if (is6) {
    shell.host.change({ ip6: found });
    shell.print(`PC1 : ${address}/${found.prefix}${gateway || ' '}\n`);
    return 'done';
  }
  shell.print('Checking for duplicate address...\n');
  checking(shell, found);
  return 'started';
}

/** The setting, or what is wrong. */
function readSetting(address: string, words: readonly string[]): IpSetting | string {
  const [most, usual] = isIp6(address) ? [128, 64] : [30, 24];
  let prefix = usual;
  let gateway: string | undefined;
  for (const word of words) {
    const text = word.replace(/^\//, '');
    const mask = prefixOfMask(text);
    const other = readAddress(text);
    if (/^\d{1,3}$/.test(text)) prefix = Number(text) >= 1 && Number(text) <= most ? Number(text) : usual;
    else if (mask !== undefined && mask >= 1) prefix = Math.min(mask, most);
    else if (other !== undefined && isIp6(other) === isIp6(address) && !word.startsWith('/')) gateway = other;
    else return 'Invalid options';
  }
  if (isMulticast(address) || isLoopback(address)) return 'Invalid address';
  const isEdge = (each: string) => !isIp6(each) && [0, 1].some((bit) => withHostBits(address, prefix, bit as 0 | 1) === each);
  if (isEdge(address)) return 'Invalid host address';
  if (gateway === undefined) return { address, prefix };
  if (gateway === address) return 'Invalid address';
  if (isEdge(gateway)) return 'Invalid gateway address';
  const isNear = isInSubnet(gateway, address, prefix) || (isIp6(gateway) && isInSubnet(gateway, 'fe80::', 10));
  return isNear ? { address, prefix, gateway } : 'not same subnet';
}

/** The job that takes an IPv4 address unless another host has it. */
export function checking(shell: PcShell, setting: IpSetting, left?: number): void {
  const { host } = shell;
  const { address, prefix, gateway } = setting;
  const end = () => host.clearTask(shellTimer);
  const onDone = (usedBy: string | undefined) => {
    end();
    if (usedBy !== undefined) shell.print(`${address} is being used by MAC ${usedBy}\nAddress not changed\n`);
    else {
      host.dhcp.stop();
      host.dhcp.forget();
      host.change({ ip4: setting });
      shell.print(`PC1 : ${address} ${maskText(prefix)}${gateway === undefined ? '' : ` gateway ${gateway}`}\n`);
    }
    shell.finish();
  };
  const check = new AddressCheck(host, onDone, left);
  const interrupt = () => {
    end();
    check.stop();
  };
  host.setTask(shellTimer, { onTimer: () => check.next(address) });
  shell.setJob({ interrupt, state: () => ({ kind: 'address', setting, left: check.left }) });
  check.start(address);
  if (left === undefined) check.next(address);
}

/** The job that waits for a DHCP server, and then checks its address. */
export function obtaining(
  shell: PcShell,
  { isVerbose, left, isRestored }: { isVerbose: boolean; left?: number; isRestored?: boolean },
): void {
  const { host } = shell;
  const letters: Readonly<Record<number, string>> = {
    [dhcpTypes.discover]: 'D',
    [dhcpTypes.offer]: 'O',
    [dhcpTypes.request]: 'R',
    [dhcpTypes.ack]: 'A',
    [dhcpTypes.nak]: 'N',
  };
  let check: AddressCheck | undefined;
  const finish = (text: string) => {
    host.clearTask(shellTimer);
    shell.print(text);
    shell.finish();
  };
  const checkAddress = (remaining?: number) => {
    const answer = host.dhcp.answer;
    if (!answer) return;
    const { address, prefix, gateway, server } = answer;
    check = new AddressCheck(
      host,
      (usedBy) => {
        if (usedBy === undefined) host.dhcp.apply(answer);
        else host.dhcp.decline(address, server);
        const gained = ` IP ${address}/${prefix}${gateway === undefined ? '' : ` GW ${gateway}`}\n`;
        finish(usedBy === undefined ? gained : `\n${address} is being used by MAC ${usedBy}\nAddress not changed\n`);
      },
      remaining,
    );
    check.start(address);
    if (remaining === undefined) check.next(address);
  };
  const listener = {
    onMessage: (bytes: Uint8Array, type: number) => shell.print(isVerbose ? describeDhcp(bytes) : (letters[type] ?? '')),
    onEnd: (end: 'bound' | 'timeout' | 'refused') => {
      if (end === 'bound') checkAddress();
      else finish(end === 'timeout' ? "\nCan't find dhcp server\n" : '\nThe DHCP server refused the address\n');
    },
  };
  const interrupt = () => {
    host.clearTask(shellTimer);
    host.dhcp.stop();
    check?.stop();
  };
  host.setTask(shellTimer, { onTimer: () => check?.next(host.dhcp.answer?.address ?? '') });
  shell.setJob({ interrupt, state: () => ({ kind: 'dhcp', isVerbose, ...(check ? { left: check.left } : {}) }) });
  if (!isRestored) host.dhcp.start(listener);
  else if (left === undefined) host.dhcp.listener = listener;
  else checkAddress(left);
}

function auto(shell: PcShell): 'started' {
  const { ip6 } = shell.host.settings;
  if (ip6 && !ip6.auto) shell.host.change({ ip6: undefined });
  soliciting(shell);
  return 'started';
}

/** The job that waits for a router. */
export function soliciting(shell: PcShell, asked = 0): void {
  const { host } = shell;
  const timer = `task ${shellTimer} next`;
  let count = asked;
  const interrupt = () => {
    host.clearTask(shellTimer);
    host.timers.clear(timer);
    host.discovery.onRouter = undefined;
  };
  const finish = (text: string) => {
    interrupt();
    shell.print(text);
    shell.finish();
  };
  const ask = () => {
    if (count === routerTries) {
      finish('No router answered ICMPv6 Router Solicitation\n');
      return;
    }
    count += 1;
    host.timers.set(timer, routerPauseMs);
    host.discovery.solicitRouter();
  };
  host.discovery.onRouter = () => {
    const { ip6, router6 } = host.settings;
    const scope = ip6 ? `${ip6.address}/${ip6.prefix}` : '';
    finish(`GLOBAL SCOPE      : ${scope}\nROUTER LINK-LAYER : ${router6?.mac ?? ''}\n`);
  };
  host.setTask(shellTimer, { onTimer: ask });
  shell.setJob({ interrupt, state: () => ({ kind: 'auto', asked: count }) });
  if (asked === 0) ask();
}

const requests = 3;
/** The pause after each question. The prompt waits for all of them: 0.3 s, where vpcs waits 3 s. A later answer is not seen. */
const pauseMs = 100;
const timer = `task ${shellTimer} next`;

/** Checks for a duplicate of an IPv4 address before it is used: three gratuitous requests of ARP. */
class AddressCheck {
  readonly #host: PcHost;
  readonly #onDone: (usedBy: string | undefined) => void;
  #left: number;

  constructor(host: PcHost, onDone: (usedBy: string | undefined) => void, left = requests) {
    this.#host = host;
    this.#onDone = onDone;
    this.#left = left;
  }

  get left(): number {
    return this.#left;
  }

  start(address: string): void {
    this.#host.arp.watch(address, (mac) => this.#end(mac));
  }

  /** Sends the next request, or ends. */
  next(address: string): void {
    if (this.#left === 0) {
      this.#end(undefined);
      return;
    }
    this.#left -= 1;
    this.#host.timers.set(timer, pauseMs);
    this.#host.arp.probe(address);
  }

  stop(): void {
    this.#host.timers.clear(timer);
    this.#host.arp.watch(undefined);
  }

  #end(usedBy: string | undefined): void {
    this.stop();
    this.#onDone(usedBy);
  }
}
