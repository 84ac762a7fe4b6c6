/**
 * The kinds of node that exist here, facts only: the controller may import this file, so nothing in it reaches a driver or does I/O.
 * A kind is its folder, one line in each list here and one in `drivers.ts`; the compiler compares the lists.
 */
import type { NodeType } from '../schema/node.ts';
import { atmSwitchKind } from './atm-switch/kind.ts';
import { atmSwitchTemplate } from './atm-switch/template.ts';
import { cloudKind } from './cloud/kind.ts';
import { cloudTemplate } from './cloud/template.ts';
import { dockerKind } from './docker/kind.ts';
import { dockerTemplate } from './docker/template.ts';
import { dynamipsKind } from './dynamips/kind.ts';
import { dynamipsTemplate } from './dynamips/template.ts';
import { ethernetHubKind } from './ethernet-hub/kind.ts';
import { ethernetHubTemplate } from './ethernet-hub/template.ts';
import { ethernetSwitchKind } from './ethernet-switch/kind.ts';
import { ethernetSwitchTemplate } from './ethernet-switch/template.ts';
import { frameRelaySwitchKind } from './frame-relay-switch/kind.ts';
import { frameRelaySwitchTemplate } from './frame-relay-switch/template.ts';
import { iouKind } from './iou/kind.ts';
import { iouTemplate } from './iou/template.ts';
import type { Kind, SymbolFacts, TemplateFacts } from './kind.ts';
import { natKind } from './nat/kind.ts';
import { natTemplate } from './nat/template.ts';
import { qemuKind } from './qemu/kind.ts';
import { qemuTemplate } from './qemu/template.ts';
import { tracengKind } from './traceng/kind.ts';
import { tracengTemplate } from './traceng/template.ts';
import { virtualboxKind } from './virtualbox/kind.ts';
import { virtualboxTemplate } from './virtualbox/template.ts';
import { vmwareKind } from './vmware/kind.ts';
import { vmwareTemplate } from './vmware/template.ts';
import { vpcsKind } from './vpcs/kind.ts';
import { vpcsTemplate } from './vpcs/template.ts';

/** In the order in which computes list them. */
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

/** In `project-files` of a project: one for each kind, with a folder for each node in it. */
export const kindFolders: ReadonlySet<string> = new Set(Object.values(table).map(({ folder }) => folder));

/** In the order in which clients see the built-in ones. */
export const templateFacts: Readonly<Record<NodeType, TemplateFacts>> = {
  cloud: cloudTemplate,
  nat: natTemplate,
  vpcs: vpcsTemplate,
  ethernet_switch: ethernetSwitchTemplate,
  ethernet_hub: ethernetHubTemplate,
  frame_relay_switch: frameRelaySwitchTemplate,
  atm_switch: atmSwitchTemplate,
  docker: dockerTemplate,
  dynamips: dynamipsTemplate,
  iou: iouTemplate,
  qemu: qemuTemplate,
  traceng: tracengTemplate,
  virtualbox: virtualboxTemplate,
  vmware: vmwareTemplate,
};

/** The symbols that kinds have as their own. */
export const kindSymbols: readonly SymbolFacts[] = Object.values(templateFacts).flatMap(({ ownSymbol }) => ownSymbol ?? []);
