/** Modules and WICs of routers, and the ports they bring. Source: the GNS3 2.2 v2 API. */
import type { Port } from '../../schema/node.ts';
import type { Properties } from '../driver.ts';
import { serialLinkTypes } from '../facts/port-naming.ts';

type PortType = 'Ethernet' | 'FastEthernet' | 'GigabitEthernet' | 'Serial' | 'ATM' | 'POS';

interface Module {
  readonly ports: number;
  readonly type: PortType;
}

const of = (ports: number, type: PortType): Module => ({ ports, type });

export const modules = {
  'C1700-MB-1FE': of(1, 'FastEthernet'),
  'C1700-MB-WIC1': of(0, 'FastEthernet'),
  'C2600-MB-1E': of(1, 'Ethernet'),
  'C2600-MB-2E': of(2, 'Ethernet'),
  'C2600-MB-1FE': of(1, 'FastEthernet'),
  'C2600-MB-2FE': of(2, 'FastEthernet'),
  'C7200-IO-FE': of(1, 'FastEthernet'),
  'C7200-IO-2FE': of(2, 'FastEthernet'),
  'C7200-IO-GE-E': of(1, 'GigabitEthernet'),
  'GT96100-FE': of(2, 'FastEthernet'),
  'Leopard-2FE': of(2, 'FastEthernet'),
  'NM-1E': of(1, 'Ethernet'),
  'NM-4E': of(4, 'Ethernet'),
  'NM-1FE-TX': of(1, 'FastEthernet'),
  'NM-16ESW': of(16, 'FastEthernet'),
  'NM-4T': of(4, 'Serial'),
  'PA-FE-TX': of(1, 'FastEthernet'),
  'PA-2FE-TX': of(2, 'FastEthernet'),
  'PA-GE': of(1, 'GigabitEthernet'),
  'PA-4E': of(4, 'Ethernet'),
  'PA-8E': of(8, 'Ethernet'),
  'PA-4T+': of(4, 'Serial'),
  'PA-8T': of(8, 'Serial'),
  'PA-A1': of(1, 'ATM'),
  'PA-POS-OC3': of(1, 'POS'),
} as const satisfies Record<string, Module>;
export type ModuleName = keyof typeof modules;

export const wicModules = {
  'WIC-1ENET': of(1, 'Ethernet'),
  'WIC-1T': of(1, 'Serial'),
  'WIC-2T': of(2, 'Serial'),
} as const satisfies Record<string, Module>;

/** Empty: nothing is plugged in. */
export const moduleNames = [...(Object.keys(modules) as ModuleName[]), ''] as const;
export const wicNames = [...(Object.keys(wicModules) as (keyof typeof wicModules)[]), ''] as const;

const ethernet = { link_type: 'ethernet', data_link_types: { Ethernet: 'DLT_EN10MB' } } as const;
const serial = { link_type: 'serial', data_link_types: serialLinkTypes } as const;
const linkOf: Readonly<Record<PortType, { short: string } & Pick<Port, 'link_type' | 'data_link_types'>>> = {
  Ethernet: { short: 'e', ...ethernet },
  FastEthernet: { short: 'f', ...ethernet },
  GigabitEthernet: { short: 'g', ...ethernet },
  Serial: { short: 's', ...serial },
  ATM: { short: 'a', link_type: 'serial', data_link_types: { ATM: 'DLT_ATM_RFC1483' } },
  POS: { short: 'p', link_type: 'serial', data_link_types: {} },
};

/** Ports of WIC bay b, all on adapter 0, begin at this number times b + 1. */
const wicPortStep = 16;

/** The ports of what is plugged into slots, then of what is in the WIC bays of the first. */
export function routerPorts(properties: Properties): Port[] {
  return [...slotPorts(properties), ...wicPorts(properties)];
}

function slotPorts(properties: Properties): Port[] {
  return plugged(properties, 'slot').flatMap(([, name], adapter) => {
    const module = find(modules, name);
    return Array.from({ length: module?.ports ?? 0 }, (_, port) =>
      portOf(module?.type ?? 'Ethernet', { adapter, number: port, shown: port }),
    );
  });
}

/** The numbers that are shown run on over all of them. */
function wicPorts(properties: Properties): Port[] {
  let shown = 0;
  return plugged(properties, 'wic').flatMap(([, name], bay) => {
    const wic = find(wicModules, name);
    return Array.from({ length: wic?.ports ?? 0 }, (_, index) =>
      portOf(wic?.type ?? 'Serial', { adapter: 0, number: wicPortStep * (bay + 1) + index, shown: shown++ }),
    );
  });
}

function portOf(type: PortType, at: { adapter: number; number: number; shown: number }): Port {
  const { short, link_type, data_link_types } = linkOf[type];
  return {
    adapter_number: at.adapter,
    port_number: at.number,
    name: `${type}${at.adapter}/${at.shown}`,
    short_name: `${short}${at.adapter}/${at.shown}`,
    link_type,
    data_link_types,
  };
}

/** Modules by property, in the order of the properties' names; empty ones count as well. */
function plugged(properties: Properties, prefix: string): [string, unknown][] {
  return Object.entries(properties)
    .filter(([key]) => key.startsWith(prefix))
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function find(table: Readonly<Record<string, Module>>, name: unknown): Module | undefined {
  return typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined;
}
