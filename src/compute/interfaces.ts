/** The network interfaces of this machine, as clients see them. Linux lists them in `/sys/class/net`, those without address too. */
import { readdir, readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';

export interface Interface {
  readonly id: string;
  readonly name: string;
  readonly ip_address: string;
  readonly netmask: string;
  readonly mac_address: string;
  readonly type: 'ethernet' | 'tap';
  readonly special: boolean;
}

/** In order of names. `allowed`: comma-separated names that may be shown; empty shows all. */
export async function listInterfaces(allowed: string): Promise<Interface[]> {
  const addresses = networkInterfaces();
  const listed = await readdir('/sys/class/net').catch(() => []);
  const names = [...new Set([...listed, ...Object.keys(addresses)])].sort();
  const shown = allowed === '' ? names : names.filter((name) => isAllowed(name, allowed));
  return Promise.all(shown.map((name) => describe(name, addresses[name] ?? [])));
}

function isAllowed(name: string, allowed: string): boolean {
  return allowed.split(',').some((entry) => entry.trim() === name) || name.startsWith('gns3tap');
}

async function describe(name: string, addresses: NonNullable<ReturnType<typeof networkInterfaces>[string]>): Promise<Interface> {
  const ip = addresses.findLast((entry) => entry.family === 'IPv4');
  const hardware = await readFile(`/sys/class/net/${name}/address`, 'utf8').catch(() => addresses[0]?.mac ?? '');
  return {
    id: name,
    name,
    ip_address: ip?.address ?? '',
    netmask: ip?.netmask ?? '',
    mac_address: hardware.trim(),
    type: name.startsWith('tap') ? 'tap' : 'ethernet',
    special: isSpecial(name),
  };
}

/** Interfaces of virtualisation and tunnels, which users rarely want: loopback, bridges of other programs, containers' ends. */
const specialPrefixes = [
  'lo',
  'vmnet',
  'vboxnet',
  'docker',
  'lxcbr',
  'virbr',
  'ovs-system',
  'veth',
  'fw',
  'p2p',
  'bridge',
  'vmware',
  'virtualbox',
  'gns3',
];

export function isSpecial(name: string): boolean {
  return specialPrefixes.some((prefix) => name.toLowerCase().startsWith(prefix)) || name.endsWith('-nic');
}
