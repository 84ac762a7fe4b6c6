/** Routes with a JSON body of the kinds that are a switch inside the fabric, or are kept and not run. */
import type { JsonRoute } from './json-route.ts';
import { customFields, flag, integer, list, name, object, orNull, port, text, uuid, word } from './value-types.ts';
import type { Sort } from './wrong-values.ts';

export const customAdapters: Record<string, Sort> = {
  '': list,
  '.0': object,
  '.0.adapter_number': integer,
  '.0.adapter_type': name,
  '.0.mac_address': { is: 'mac' },
  '.0.port_name': name,
};
const custom = customFields(customAdapters);
const machineFields: Record<string, Sort> = {
  name,
  adapter_type: name,
  adapters: orNull(integer),
  ...custom,
  headless: flag,
  on_close: word,
  usage: text,
};
/** Storage-only kinds: a valid body, and some of its fields. */
const storageOnly: Readonly<Record<string, { good: object; fields: Record<string, Sort> }>> = {
  dynamips: {
    good: { platform: 'c7200', image: 'none.bin', ram: 256 },
    fields: { name, image: name, ram: integer, nvram: integer, mmap: flag, iomem: integer, usage: text },
  },
  iou: {
    good: { path: 'none.bin' },
    fields: { name, path: name, ethernet_adapters: orNull(integer), l1_keepalives: orNull(flag) },
  },
  traceng: { good: {}, fields: { name, ip_address: orNull(text), default_destination: orNull(text), console_type: word } },
  virtualbox: { good: { vmname: 'one' }, fields: { ...machineFields, ram: integer, linked_clone: flag } },
  vmware: {
    good: { vmx_path: '/none.vmx', linked_clone: false },
    fields: { ...machineFields, vmx_path: name, linked_clone: flag },
  },
};
const switchPort: Record<string, Sort> = {
  ports_mapping: list,
  'ports_mapping.0': object,
  'ports_mapping.0.name': name,
  'ports_mapping.0.port_number': { is: 'integer', minimum: 0 },
};
const switches: Readonly<Record<string, { good: object; fields: Record<string, Sort> }>> = {
  ethernet_switch: {
    good: { ports_mapping: [{ name: 'a', port_number: 0, type: 'access', vlan: 1, ethertype: '' }] },
    fields: {
      ...switchPort,
      'ports_mapping.0.type': word,
      'ports_mapping.0.vlan': { is: 'integer', minimum: 1, maximum: 4094 },
      console: orNull(port),
      console_type: word,
    },
  },
  ethernet_hub: { good: { ports_mapping: [{ name: 'a', port_number: 0 }] }, fields: switchPort },
  frame_relay_switch: { good: { mappings: { '1:101': '2:202' } }, fields: { mappings: object } },
  atm_switch: { good: { mappings: { '1:0:101': '2:0:202' } }, fields: { mappings: object } },
};

export const kindRoutes: readonly JsonRoute[] = [
  ...Object.entries(switches).flatMap(([type, { good, fields }]): JsonRoute[] => {
    const nodes = `/v2/compute/projects/{project_id}/${type}/nodes`;
    const one = `${nodes}/{${type}_id}`;
    return [
      { line: `POST ${nodes}`, good: () => ({ name: 'good', ...good }), fields: { ...fields, name, node_id: uuid } },
      { line: `PUT ${one}`, good: () => ({ ...good }), fields: { ...fields, name } },
      {
        line: `POST ${one}/duplicate`,
        good: (ids) => ({ destination_node_id: ids.unknown_id }),
        fields: { destination_node_id: uuid },
      },
    ];
  }),
  ...Object.entries(storageOnly).map(
    ([type, { good, fields }]): JsonRoute => ({
      line: `POST /v2/compute/projects/{project_id}/${type}/nodes`,
      good: () => ({ name: 'good', ...good }),
      fields,
    }),
  ),
];
