/** Facts shared by the kinds that are a switch inside the fabric. */
import type { Port } from '../../schema/node.ts';
import { alwaysRunningFacts } from '../facts/always-running.ts';
import type { Kind } from '../kind.ts';

export const fabricFacts = { ...alwaysRunningFacts, inFabric: 'switch' } as const satisfies Partial<Kind>;

/** Makes an Ethernet port for each entry of the mapping, in order. The number of a port is its place, whatever number the entry has. */
export function mappedPorts(mapping: unknown): Port[] {
  if (!Array.isArray(mapping)) return [];
  return mapping.map((entry: { name?: unknown } | null, place) => ({
    adapter_number: 0,
    port_number: place,
    name: String(entry?.name ?? `Ethernet${place}`),
    short_name: `e${place}`,
    link_type: 'ethernet',
    data_link_types: { Ethernet: 'DLT_EN10MB' },
  }));
}

/** Names and numbers by place, as GNS3 gives them at every change. */
export function renumbered<T extends object>(mapping: readonly T[]): T[] {
  return mapping.map((entry, place) => ({ ...entry, name: `Ethernet${place}`, port_number: place }));
}
