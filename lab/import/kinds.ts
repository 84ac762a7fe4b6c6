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

/** Node definitions of CML that become switches, routers of IOL and uplinks. */
export const cmlSwitches: ReadonlySet<string> = new Set(['unmanaged_switch']);
export const cmlUnixRouters: ReadonlySet<string> = new Set(['iol-xe', 'ioll2-xe']);
/** Ethernet ports in each slot of an IOL. */
export const unixRouterPorts = 4;
export const cmlUplinks: ReadonlySet<string> = new Set(['external_connector', 'nat']);

/** Settings that the images of a containerlab kind need to start. */
interface ContainerNeeds {
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

/** First data interface of wrapped machines whose own names of interfaces are not numbered as those of the container (eth1, eth2, …). */
const aliasCounts: readonly (readonly [RegExp, (number: number) => number])[] = [
  [/^juniper|xrv|^cisco_(?:asav|ftdv)/, (number) => number + 1],
  [/csr1000v|c8000v|^mikrotik|^fortinet/, (number) => number - 1],
  [/^sonic/, (number) => number / 4 + 1],
];

/**
 * Returns the adapter that an interface of a machine is, which containerlab names as in the container (`eth3`) or as in its system
 * (`ge-0/0/2`, `1/1/c3/1`); undefined for a name without a usable number.
 */
export function machineAdapter(kind: string, port: string): number | undefined {
  const [, digits] = /c(\d{1,3})\/1$/.exec(port) ?? /(\d{1,3})$/.exec(port) ?? [];
  if (digits === undefined) return undefined;
  const count = /^eth\d+$/.test(port) ? undefined : aliasCounts.find(([pattern]) => pattern.test(kind))?.[1];
  const number = count?.(Number(digits)) ?? Number(digits);
  return Number.isInteger(number) && number >= 0 ? number : undefined;
}

/** Files in which systems find a configuration on a config disk, by the names that programs give to the systems. */
const configDiskFiles: readonly (readonly [RegExp, string])[] = [
  [/xrv/, 'iosxr_config.txt'],
  [/csr|c8000v|cat[89]|iosxe/, 'iosxe_config.txt'],
  [/ios|iol/, 'ios_config.txt'],
  [/nxos|n9k/, 'nxos_config.txt'],
  [/asav/, 'day0-config'],
  [/juniper|vjunos|vmx|vqfx|vsrx/, 'juniper.conf'],
  [/^(?:ubuntu|coreos|debian)/, 'user-data'],
];

/** Returns the file that a system reads from a config disk; undefined where none is known. */
export function configDiskFile(system: string): string | undefined {
  return configDiskFiles.find(([pattern]) => pattern.test(system))?.[1];
}
