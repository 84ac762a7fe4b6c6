/** Modules and WICs of routers, and the ports they bring. Source: the GNS3 2.2 v2 API. */
import type { Port } from '../../schema/node.ts';
import { type RouterModule, type RouterPortType, routerModules, wicModules } from '../../schema/router-hardware.ts';
import type { Properties } from '../driver.ts';
import { serialLinkTypes } from '../facts/port-naming.ts';

/** Empty: nothing is plugged in. */
export const moduleNames = [...(Object.keys(routerModules) as (keyof typeof routerModules)[]), ''] as const;
export const wicNames = [...(Object.keys(wicModules) as (keyof typeof wicModules)[]), ''] as const;

const ethernet = { link_type: 'ethernet', data_link_types: { Ethernet: 'DLT_EN10MB' } } as const;
const serial = { link_type: 'serial', data_link_types: serialLinkTypes } as const;
const linkOf: Readonly<Record<RouterPortType, { short: string } & Pick<Port, 'link_type' | 'data_link_types'>>> = {
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
  return plugged(properties, 'slot').flatMap(([key, name]) => {
    const adapter = Number(key.slice('slot'.length));
    const module = find(routerModules, name);
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

function portOf(type: RouterPortType, at: { adapter: number; number: number; shown: number }): Port {
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

function find(table: Readonly<Record<string, RouterModule>>, name: unknown): RouterModule | undefined {
  return typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined;
}
