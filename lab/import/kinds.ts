/** Maps other programs' node types to Patchbay's. Sources: the programs' public documents. */
import type { NodeType } from '../../src/schema/node.ts';

export const container: NodeType = 'docker';
export const machine: NodeType = 'qemu';
export const pc: NodeType = 'vpcs';
export const networkSwitch: NodeType = 'ethernet_switch';
export const uplink: NodeType = 'nat';
export const hostInterfaces: NodeType = 'cloud';
export const router: NodeType = 'dynamips';
export const unixRouter: NodeType = 'iou';

/** Types of nodes of EVE-NG. */
export const eveKinds: ReadonlyMap<string, NodeType> = new Map([
  ['qemu', machine],
  ['docker', container],
  ['vpcs', pc],
  ['iol', unixRouter],
  ['dynamips', router],
]);

/** Node definitions of CML that become switches, and those that become uplinks. */
export const cmlSwitches: ReadonlySet<string> = new Set(['unmanaged_switch', 'ioll2-xe-switch']);
export const cmlUplinks: ReadonlySet<string> = new Set(['external_connector', 'nat']);

/** Settings that the images of a containerlab kind need to start. */
export interface ContainerNeeds {
  readonly command?: string;
  /** The command hands the environment to systemd, word by word. */
  readonly handsOn?: true;
  readonly environment?: Readonly<Record<string, string>>;
  /** Path of the start-up configuration in the node's folder. */
  readonly startupFile?: string;
  /** Interfaces per slot, for kinds that name `eth1` `Ethernet0/1`; in Patchbay it is `e0/1`. */
  readonly unitsOf?: number;
}

const ceosEnvironment = {
  CEOS: '1',
  EOS_PLATFORM: 'ceoslab',
  container: 'docker',
  ETBA: '1',
  SKIP_ZEROTOUCH_BARRIER_IN_SYSDBINIT: '1',
  INTFTYPE: 'eth',
};

export const containerKinds: Readonly<Record<string, ContainerNeeds>> = {
  linux: {},
  nokia_srlinux: { command: 'sudo bash /opt/srlinux/bin/sr_linux' },
  srl: { command: 'sudo bash /opt/srlinux/bin/sr_linux' },
  arista_ceos: { command: '/sbin/init', handsOn: true, environment: ceosEnvironment },
  ceos: { command: '/sbin/init', handsOn: true, environment: ceosEnvironment },
  juniper_crpd: {},
  crpd: {},
  'sonic-vs': {},
  cisco_iol: { environment: { IOL_PID: 'auto' }, startupFile: 'startup-config.cfg', unitsOf: 4 },
};

/** Returns the command of a container with this environment: the file's own, or that of its kind. */
export function commandOf(
  own: string | undefined,
  needs: ContainerNeeds | undefined,
  lines: readonly string[],
): string | undefined {
  if (own !== undefined || needs?.command === undefined || !needs.handsOn) return own ?? needs?.command;
  return [needs.command, ...lines.filter((line) => !/\s/.test(line)).map((line) => `systemd.setenv=${line}`)].join(' ');
}

/** containerlab kinds that are bridges. */
export const bridgeKinds: ReadonlySet<string> = new Set(['bridge', 'ovs-bridge']);

/** The containerlab kind of the host itself, and that of a Kubernetes cluster, which has no interfaces of its own. */
export const hostKind = 'host';
export const clusterKind = 'k8s-kind';

/** The containerlab kind of a container that another program made. */
export const foreignContainerKind = 'ext-container';

/** Whether a containerlab kind or image is a container around a virtual machine (vrnetlab). */
export function isWrappedMachine(kind: string, image: string): boolean {
  if (Object.hasOwn(containerKinds, kind)) return false;
  return kind.startsWith('vr-') || /(^|\/)(vrnetlab\/|vr-)/.test(image) || wrappedKinds.has(kind);
}

const wrappedKinds: ReadonlySet<string> = new Set([
  ...[
    'nokia_sros',
    'juniper_vmx',
    'juniper_vqfx',
    'juniper_vsrx',
    'juniper_vjunosrouter',
    'juniper_vjunosswitch',
    'juniper_vjunosevolved',
  ],
  ...[
    'cisco_xrv',
    'cisco_xrv9k',
    'cisco_csr1000v',
    'cisco_c8000v',
    'cisco_n9kv',
    'cisco_ftdv',
    'cisco_vios',
    'cisco_cat9kv',
    'cisco_asav',
  ],
  ...[
    'arista_veos',
    'mikrotik_ros',
    'paloalto_panos',
    'fortinet_fortigate',
    'checkpoint_cloudguard',
    'aruba_aoscx',
    'dell_ftosv',
    'openbsd',
    'freebsd',
    'openwrt',
  ],
]);
