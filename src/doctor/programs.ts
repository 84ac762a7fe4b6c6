/** The programs that Patchbay works with: what for, how they tell their version, and which Debian package has them. */

import type { NodeType } from '../schema/node.ts';

export interface Program {
  readonly name: string;
  readonly package: string;
  /** What does not work without it. */
  readonly for: string;
  readonly versionArgs: readonly string[];
  /** Finds the version in what the program prints. */
  readonly version: RegExp;
  /** Nodes of these types need it. */
  readonly nodeTypes?: readonly NodeType[];
  /** Most projects do without it. */
  readonly optional?: boolean;
}

/** Emulators of all architectures are listed besides, as they are found; this is the one that must be there. */
export const programs: readonly Program[] = [
  {
    name: 'qemu-system-x86_64',
    package: 'qemu-system-x86',
    nodeTypes: ['qemu'],
    for: 'virtual machines (other architectures have packages of their own: qemu-system-arm, -mips, -ppc, …)',
    versionArgs: ['--version'],
    version: /version (\S+)/,
  },
  { name: 'qemu-img', package: 'qemu-utils', for: 'disks and linked clones', versionArgs: ['--version'], version: /version (\S+)/ },
  { name: 'vpcs', package: 'vpcs', nodeTypes: ['vpcs'], for: 'VPCS nodes', versionArgs: ['-v'], version: /version (\S+)/ },
  {
    name: 'tcpdump',
    package: 'tcpdump',
    for: 'the bpf filter of links',
    versionArgs: ['--version'],
    version: /tcpdump version (\S+)/,
  },
  {
    name: 'passt',
    package: 'passt',
    for: 'NAT nodes for one guest, or with a resolver of their own',
    versionArgs: ['--version'],
    version: /passt (\S+)/,
    optional: true,
  },
  {
    name: 'socat',
    package: 'socat',
    for: 'cloud nodes on real interfaces, adapters of Docker nodes',
    versionArgs: ['-V'],
    version: /socat version (\S+)/,
    optional: true,
  },
  {
    name: 'dockerd',
    package: 'docker.io',
    nodeTypes: ['docker'],
    for: 'Docker nodes',
    versionArgs: ['--version'],
    version: /version ([^\s,]+)/,
    optional: true,
  },
  {
    name: 'busybox',
    package: 'busybox-static',
    for: 'what prepares Docker nodes (a static one)',
    versionArgs: [],
    version: /BusyBox v(\S+)/,
    optional: true,
  },
  {
    name: 'Xtigervnc',
    package: 'tigervnc-standalone-server',
    for: 'screens of Docker nodes (console type vnc)',
    versionArgs: ['-version'],
    version: /TigerVNC (\S+)/,
    optional: true,
  },
  {
    name: 'swtpm',
    package: 'swtpm',
    for: 'TPMs of virtual machines',
    versionArgs: ['--version'],
    version: /version (\d[\d.]*)/,
    optional: true,
  },
  {
    name: 'mcopy',
    package: 'mtools',
    for: 'start-up configurations on config disks',
    versionArgs: ['--version'],
    version: /mtools\) (\S+)/,
    optional: true,
  },
  {
    name: 'bzip2',
    package: 'bzip2',
    for: 'imports packed with bzip2',
    versionArgs: ['--help'],
    version: /Version ([\d.]+)/,
    optional: true,
  },
  {
    name: 'xz',
    package: 'xz-utils',
    for: 'imports packed with LZMA',
    versionArgs: ['--version'],
    version: /xz \(XZ Utils\) (\S+)/,
    optional: true,
  },
];
