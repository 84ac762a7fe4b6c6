/** The network interfaces of this machine, as clients see them. Linux lists them in `/sys/class/net`, those without address too. */
import { access, readdir, readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { isOwnInterface } from '../../fabric/redirection.ts';

export interface HostInterface {
  readonly id: string;
  readonly name: string;
  readonly ip_address: string;
  readonly netmask: string;
  readonly mac_address: string;
  readonly type: 'ethernet' | 'tap';
  readonly special: boolean;
}

/**
 * Lists interfaces in order of names, without those that servers made for their own use. `allowed`: comma-separated names that may be
 * shown; empty shows all.
 */
export async function listInterfaces(allowed: string): Promise<HostInterface[]> {
  const addresses = networkInterfaces();
  const listed = await readdir('/sys/class/net').catch(() => []);
  const names = [...new Set([...listed, ...Object.keys(addresses)])].sort();
  const shown = names.filter((name) => !isOwnInterface(name) && isAllowed(name, allowed));
  return Promise.all(shown.map((name) => describe(name, addresses[name] ?? [])));
}

/** `allowed` as for the list. */
export function isAllowed(name: string, allowed: string): boolean {
  return allowed === '' || allowed.split(',').some((entry) => entry.trim() === name) || name.startsWith('gns3tap');
}

async function describe(
  name: string,
  addresses: NonNullable<ReturnType<typeof networkInterfaces>[string]>,
): Promise<HostInterface> {
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

export interface Device {
  readonly index: number;
  /** Bytes. */
  readonly mtu: number;
  readonly isUp: boolean;
  readonly isBridge: boolean;
  readonly isTap: boolean;
}

/** IFF_UP. @see netdevice(7) */
const upFlag = 1;

/** IFNAMSIZ less its NUL, and nothing that would be more than a name in a path or a command line; projects come from other systems. */
export function isDeviceName(name: string): boolean {
  return /^[\w.@+-]{1,15}$/.test(name) && !/^[.-]/.test(name);
}

/** Reads the kernel's facts about an interface; undefined when there is none. @see sysfs-class-net of the kernel's ABI documents */
export async function findDevice(name: string): Promise<Device | undefined> {
  if (!isDeviceName(name)) return undefined;
  const folder = `/sys/class/net/${name}`;
  const read = async (fact: string) => Number((await readFile(`${folder}/${fact}`, 'latin1')).trim());
  try {
    const [index, mtu, flags] = await Promise.all([read('ifindex'), read('mtu'), read('flags')]);
    const has = (entry: string) =>
      access(`${folder}/${entry}`).then(
        () => true,
        () => false,
      );
    const [isBridge, isTap] = await Promise.all([has('bridge'), has('tun_flags')]);
    return { index, mtu, isUp: (flags & upFlag) !== 0, isBridge, isTap };
  } catch {
    return undefined;
  }
}
