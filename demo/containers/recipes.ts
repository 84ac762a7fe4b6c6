/** Container images of the demo and of the labs, as lists of Debian's packages and of the programs that are taken out of them. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';

export interface ImageRecipe {
  /** Name of the image, without a tag. */
  readonly name: string;
  /** Debian's packages; those of their libraries are found by apt. */
  readonly packages: readonly string[];
  /** Paths in these packages. */
  readonly programs: readonly string[];
  /** Paths like `programs`; a path that a release of Debian does not have is left out. */
  readonly optional: readonly string[];
  /** Files beside them, by their paths; scripts are executable. */
  readonly files: Readonly<Record<string, string>>;
  /** The image's command. */
  readonly command: string;
}

const users = `root:x:0:0:root:/root:/bin/sh
frr:x:92:92:FRR:/run/frr:/bin/false
keepalived_script:x:93:93:keepalived:/run:/bin/false
`;
const groups = `root:x:0:
frr:x:92:
frrvty:x:93:frr
`;
const common = ['busybox-static', 'iproute2'];
const files = { 'etc/passwd': users, 'etc/group': groups, 'etc/frr/vtysh.conf': 'username root nopassword\n' };

/** Routers: FRRouting. */
export async function frrRecipe(): Promise<ImageRecipe> {
  return {
    name: 'patchbay-frr',
    packages: ['frr', ...common],
    programs: [...['zebra', 'staticd', 'ospfd', 'bgpd'].map((name) => `usr/lib/frr/${name}`), 'usr/bin/vtysh', 'bin/ip'],
    // The program that holds the configuration since FRR 9.
    optional: ['usr/lib/frr/mgmtd'],
    files: { ...files, 'sbin/start-frr': await readFile(path.join(import.meta.dirname, 'start-frr'), 'utf8') },
    command: '/sbin/start-frr',
  };
}

/** VRRP: keepalived. FRR's vrrpd needs macvlan interfaces, which not every kernel has. */
export function keepalivedRecipe(): ImageRecipe {
  return {
    name: 'patchbay-keepalived',
    packages: ['keepalived', ...common],
    programs: ['usr/sbin/keepalived', 'bin/ip'],
    optional: [],
    files,
    command: '/bin/sh',
  };
}

/** A server of names and pages, and its client: dnsmasq, and busybox for the rest. */
export function dnsRecipe(): ImageRecipe {
  return {
    name: 'patchbay-dns',
    packages: ['dnsmasq-base', ...common],
    programs: ['usr/sbin/dnsmasq', 'bin/ip'],
    optional: [],
    files: { ...files, 'www/index.html': 'hello from inside\n' },
    command: '/bin/sh',
  };
}

/** Recipes of `patchbay images`. */
export async function labRecipes(): Promise<ImageRecipe[]> {
  return [await frrRecipe(), keepalivedRecipe(), dnsRecipe()];
}
