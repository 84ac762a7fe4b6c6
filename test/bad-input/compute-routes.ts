/** Routes of the compute with a JSON body. */
import type { JsonRoute } from './json-route.ts';
import { customAdapters, kindRoutes } from './kind-routes.ts';
import { customFields, flag, integer, list, name, object, orNull, port, text, uuid, word } from './value-types.ts';
import type { Sort } from './wrong-values.ts';

const custom = customFields(customAdapters);
const nio: Record<string, Sort> = { type: word, lport: port, rhost: name, rport: port, filters: object, suspend: flag };
const goodNio = () => ({ type: 'nio_udp', lport: 21000, rhost: '127.0.0.1', rport: 21001 });
const vmFields: Record<string, Sort> = {
  name,
  ram: orNull(integer),
  adapters: orNull({ is: 'integer', minimum: 0, maximum: 275 }),
  ...custom,
  hda_disk_image: text,
  on_close: word,
};
const cloudFields: Record<string, Sort> = {
  name,
  node_id: uuid,
  interfaces: list,
  ports_mapping: list,
  'ports_mapping.0': object,
  'ports_mapping.0.interface': name,
  'ports_mapping.0.name': name,
  'ports_mapping.0.port_number': { is: 'integer', minimum: 0 },
  'ports_mapping.0.type': word,
  remote_console_host: text,
  remote_console_http_path: text,
  remote_console_port: orNull(port),
  remote_console_type: word,
};
const containerFields: Record<string, Sort> = {
  ...custom,
  adapters: orNull({ is: 'integer', minimum: 0, maximum: 99 }),
  aux: orNull(port),
  console: orNull(port),
  console_http_path: text,
  console_http_port: port,
  console_resolution: word,
  console_type: word,
  extra_volumes: list,
  'extra_volumes.0': name,
  mac_address: { is: 'mac', nullable: true },
  name,
  usage: text,
};
const goodCloud = () => ({ ports_mapping: [{ name: 'e', port_number: 0, type: 'ethernet', interface: 'e' }] });
export const computeRoutes: JsonRoute[] = [
  ...kindRoutes,
  {
    line: 'GET /v2/compute/projects/{project_id}/link_stats',
    good: (ids) => ({ node_ids: [ids.node_id] }),
    fields: { node_ids: list, 'node_ids.0': uuid },
  },
  { line: 'GET /v2/compute/qemu/binaries', good: () => ({}), fields: { archs: list, 'archs.0': word } },
  {
    line: 'POST /v2/compute/projects',
    good: () => ({ name: 'good', variables: [{ name: 'a' }] }),
    fields: { name: orNull(name), path: orNull(name), project_id: orNull(uuid), variables: orNull(list), 'variables.0.name': name },
  },
  {
    line: 'PUT /v2/compute/projects/{project_id}',
    good: () => ({ variables: [{ name: 'a' }] }),
    fields: { variables: orNull(list), zoom: integer },
  },
  {
    line: 'POST /v2/compute/projects/{project_id}/copy',
    good: (ids) => ({ destination_project_id: ids.unknown_id, nodes: {} }),
    fields: { destination_project_id: uuid, destination_path: name, nodes: object },
  },
  {
    line: 'POST /v2/compute/projects/{project_id}/qemu/nodes',
    good: () => ({ name: 'good', custom_adapters: [{ adapter_number: 0 }] }),
    fields: vmFields,
  },
  {
    line: 'PUT /v2/compute/projects/{project_id}/qemu/nodes/{vm_id}',
    good: () => ({ custom_adapters: [{ adapter_number: 0 }] }),
    fields: { ...vmFields, name: orNull(name) },
  },
  {
    line: 'POST /v2/compute/projects/{project_id}/vpcs/nodes',
    good: () => ({ name: 'good' }),
    fields: { name, console: orNull(port), console_type: word },
  },
  {
    line: 'PUT /v2/compute/projects/{project_id}/vpcs/nodes/{node_id}',
    good: () => ({}),
    fields: { name: orNull(name), console: orNull(port), console_type: word },
  },
  ...['qemu/nodes/{vm_id}', 'vpcs/nodes/{node_id}'].flatMap((node): JsonRoute[] => {
    const base = `/v2/compute/projects/{project_id}/${node}`;
    return [
      { line: `POST ${base}/adapters/0/ports/0/nio`, good: goodNio, fields: nio },
      { line: `PUT ${base}/adapters/0/ports/0/nio`, good: goodNio, fields: nio },
      {
        line: `POST ${base}/duplicate`,
        good: (ids) => ({ destination_node_id: ids.unknown_id }),
        fields: { destination_node_id: uuid },
      },
    ];
  }),
  {
    line: 'POST /v2/compute/projects/{project_id}/qemu/nodes/{vm_id}/resize_disk',
    good: () => ({ drive_name: 'hda', extend: 1 }),
    fields: { drive_name: word, extend: integer },
  },
  {
    line: 'POST /v2/compute/qemu/img',
    good: () => ({ qemu_img: 'qemu-img', path: 'good.img', format: 'raw', size: 1 }),
    fields: {
      qemu_img: name,
      path: name,
      format: word,
      size: integer,
      preallocation: word,
      cluster_size: integer,
      lazy_refcounts: word,
      subformat: word,
    },
  },
  {
    line: 'PUT /v2/compute/qemu/img',
    good: () => ({ qemu_img: 'qemu-img', path: 'none.img' }),
    fields: { qemu_img: name, path: name, extend: integer },
  },
  {
    line: 'POST /v2/compute/projects/{project_id}/nat/nodes',
    good: () => ({ name: 'good' }),
    fields: { name, node_id: uuid, ports_mapping: list, status: word },
  },
  {
    line: 'PUT /v2/compute/projects/{project_id}/nat/nodes/{nat_id}',
    good: () => ({}),
    fields: { name, node_id: uuid, ports_mapping: list, status: word },
  },
  {
    line: 'POST /v2/compute/projects/{project_id}/docker/nodes',
    good: () => ({ name: 'good', image: 'none', custom_adapters: [{ adapter_number: 0 }] }),
    fields: { ...containerFields, image: name, node_id: uuid },
  },
  {
    line: 'POST /v2/compute/projects/{project_id}/cloud/nodes',
    good: () => ({ ...goodCloud(), name: 'good' }),
    fields: cloudFields,
  },
  { line: 'PUT /v2/compute/projects/{project_id}/cloud/nodes/{cloud_id}', good: goodCloud, fields: cloudFields },
];
