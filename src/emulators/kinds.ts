/**
 * The kinds of node that exist here, facts only: the controller may import this file, so nothing in it reaches a driver or does I/O.
 * A kind is its folder, one line in each list here and one in `drivers.ts`; the compiler compares the lists.
 */
import type { NodeType } from '../schema/node.ts';
import { atmSwitchKind } from './atm-switch/kind.ts';
import { cloudKind } from './cloud/kind.ts';
import { dockerKind } from './docker/kind.ts';
import { dynamipsKind } from './dynamips/kind.ts';
import { ethernetHubKind } from './ethernet-hub/kind.ts';
import { ethernetSwitchKind } from './ethernet-switch/kind.ts';
import { frameRelaySwitchKind } from './frame-relay-switch/kind.ts';
import { iouKind } from './iou/kind.ts';
import type { Kind, SymbolFacts, TemplateFacts } from './kind.ts';
import { natKind } from './nat/kind.ts';
import { qemuKind } from './qemu/kind.ts';
import { tracengKind } from './traceng/kind.ts';
import { virtualboxKind } from './virtualbox/kind.ts';
import { vmwareKind } from './vmware/kind.ts';
import { vpcsKind } from './vpcs/kind.ts';

/** Kinds in the order in which computes list them. */
const table = {
  cloud: cloudKind,
  ethernet_hub: ethernetHubKind,
  ethernet_switch: ethernetSwitchKind,
  nat: natKind,
  vpcs: vpcsKind,
  virtualbox: virtualboxKind,
  dynamips: dynamipsKind,
  frame_relay_switch: frameRelaySwitchKind,
  atm_switch: atmSwitchKind,
  qemu: qemuKind,
  vmware: vmwareKind,
  traceng: tracengKind,
  docker: dockerKind,
  iou: iouKind,
} as const satisfies Record<NodeType, Kind>;

export type ImplementedType = keyof typeof table;

export const implementedTypes: readonly ImplementedType[] = Object.freeze(Object.keys(table) as ImplementedType[]);

/** `kinds[type]` is undefined for a type that only another program's file or compute names. */
export const kinds: Readonly<Partial<Record<NodeType, Kind>>> = table;

/** Folders of the kinds in `project-files` of a project: each has a folder for each of its nodes. */
export const kindFolders: ReadonlySet<string> = new Set(Object.values(table).map(({ folder }) => folder));

/** Kinds with a built-in template come first, in the order in which clients see them. */
const templateOrder: readonly NodeType[] = [
  ...(['cloud', 'nat', 'vpcs', 'ethernet_switch', 'ethernet_hub', 'frame_relay_switch', 'atm_switch'] as const),
  ...(['docker', 'dynamips', 'iou', 'qemu', 'traceng', 'virtualbox', 'vmware'] as const),
];
export const templateFacts: ReadonlyMap<string, TemplateFacts> = new Map(templateOrder.map((type) => [type, table[type].template]));

/** The symbols that kinds have as their own. */
export const kindSymbols: readonly SymbolFacts[] = [...templateFacts.values()].flatMap(({ ownSymbol }) => ownSymbol ?? []);
