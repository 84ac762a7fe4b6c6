/** Every route with a JSON body: a valid body, and the type of each field. */
import { randomUUID } from 'node:crypto';
import { computeRoutes } from './compute-routes.ts';
import type { Ids, JsonRoute } from './json-route.ts';
import { customAdapters } from './kind-routes.ts';
import { customFields, flag, integer, list, name, object, orNull, port, prefixed, text, uuid, word } from './value-types.ts';
import type { Sort } from './wrong-values.ts';

const projectSettings: Record<string, Sort> = {
  ...Object.fromEntries(
    ['auto_close', 'auto_open', 'auto_start', 'show_grid', 'show_interface_labels', 'show_layers', 'snap_to_grid'].map((key) => [
      key,
      flag,
    ]),
  ),
  ...Object.fromEntries(['drawing_grid_size', 'grid_size', 'scene_height', 'scene_width', 'zoom'].map((key) => [key, integer])),
  path: orNull(name),
  supplier: orNull(object),
  'supplier.logo': text,
  'supplier.url': text,
  variables: orNull(list),
  'variables.0': object,
  'variables.0.name': name,
  'variables.0.value': text,
};
const label: Record<string, Sort> = {
  rotation: { is: 'integer', minimum: -359, maximum: 360 },
  style: orNull(text),
  text,
  x: orNull(integer),
  y: integer,
};
const custom = customFields(customAdapters);
const nodeFields: Record<string, Sort> = {
  console: orNull(port),
  console_auto_start: flag,
  console_type: orNull(word),
  ...custom,
  first_port_name: orNull(text),
  label: object,
  ...prefixed('label', label),
  locked: flag,
  name,
  port_name_format: text,
  port_segment_size: { is: 'integer', minimum: 0 },
  properties: object,
  symbol: orNull(name),
  template_id: orNull(uuid),
  x: integer,
  y: integer,
  z: integer,
};
const linkFields: Record<string, Sort> = {
  filters: object,
  link_style: object,
  link_type: word,
  nodes: list,
  'nodes.0': object,
  'nodes.0.adapter_number': integer,
  'nodes.0.node_id': uuid,
  'nodes.0.port_number': integer,
  'nodes.0.label': object,
  ...prefixed('nodes.0.label', label),
  suspend: flag,
};
const ends = (ids: Ids) => [
  { node_id: ids.node_id, adapter_number: 0, port_number: 0, label: { text: 'a' } },
  { node_id: ids.other_id, adapter_number: 0, port_number: 0 },
];
const drawing: Record<string, Sort> = {
  drawing_id: uuid,
  locked: flag,
  rotation: { is: 'integer', minimum: -359, maximum: 360 },
  x: integer,
  y: integer,
  z: integer,
};
const compute: Record<string, Sort> = {
  compute_id: name,
  host: name,
  name,
  password: orNull(text),
  port,
  protocol: word,
  user: orNull(text),
};

const templateFields: Record<string, Sort> = {
  builtin: flag,
  default_name_format: name,
  name,
  options: text,
  ram: { is: 'integer', minimum: 0 },
  symbol: name,
  tpm: flag,
};

const controller: JsonRoute[] = [
  { line: 'POST /v2/version', good: () => ({ version: '0' }), fields: { version: text, local: flag } },
  {
    line: 'POST /v2/projects',
    good: () => ({ name: 'good', supplier: { logo: 'a' }, variables: [{ name: 'a' }] }),
    fields: { ...projectSettings, name, project_id: orNull(uuid) },
  },
  {
    line: 'PUT /v2/projects/{project_id}',
    good: () => ({ supplier: { logo: 'a' }, variables: [{ name: 'a' }] }),
    fields: { ...projectSettings, name },
  },
  {
    line: 'POST /v2/projects/{project_id}/duplicate',
    good: () => ({ name: 'good', supplier: { logo: 'a' }, variables: [{ name: 'a' }] }),
    fields: { ...projectSettings, name: orNull(name), project_id: orNull(uuid), reset_mac_addresses: flag },
  },
  { line: 'POST /v2/projects/load', good: () => ({ path: '/nowhere/x.gns3' }), fields: { path: name, copy: flag } },
  {
    line: 'POST /v2/projects/{project_id}/nodes',
    good: () => ({
      compute_id: 'local',
      name: 'good',
      node_type: 'vpcs',
      label: { text: 'a' },
      custom_adapters: [{ adapter_number: 0 }],
    }),
    fields: { ...nodeFields, compute_id: name, node_id: uuid, node_type: word },
  },
  {
    line: 'PUT /v2/projects/{project_id}/nodes/{node_id}',
    good: () => ({ label: { text: 'a' }, custom_adapters: [{ adapter_number: 0 }] }),
    fields: nodeFields,
  },
  {
    line: 'POST /v2/projects/{project_id}/nodes/{node_id}/duplicate',
    good: () => ({ x: 1, y: 1 }),
    fields: { x: integer, y: integer, z: integer },
  },
  { line: 'POST /v2/projects/{project_id}/links', good: (ids) => ({ nodes: ends(ids) }), fields: linkFields },
  { line: 'PUT /v2/projects/{project_id}/links/{link_id}', good: (ids) => ({ nodes: ends(ids) }), fields: linkFields },
  { line: 'POST /v2/projects/{project_id}/drawings', good: () => ({}), fields: drawing },
  { line: 'PUT /v2/projects/{project_id}/drawings/{drawing_id}', good: () => ({}), fields: drawing },
  // An unknown step: nothing is reverted.
  { line: 'POST /v2/projects/{project_id}/undo', good: () => ({ step: 1 }), fields: { step: integer } },
  { line: 'POST /v2/projects/{project_id}/redo', good: () => ({ step: 1 }), fields: { step: integer, only: integer } },
  {
    line: 'POST /v2/projects/{project_id}/bulk',
    good: (ids) => ({
      nodes: [{ ref: 'a', name: 'a', node_type: 'vpcs', compute_id: 'local' }],
      links: [{ nodes: ends(ids) }],
      drawings: [{}],
    }),
    fields: {
      nodes: list,
      'nodes.0': object,
      ...prefixed('nodes.0', { ...nodeFields, ref: name, compute_id: name, node_id: uuid, node_type: word }),
      links: list,
      'links.0': object,
      'links.0.filters': object,
      'links.0.link_id': uuid,
      'links.0.nodes': list,
      'links.0.nodes.0.node_id': uuid,
      'links.0.nodes.0.ref': name,
      'links.0.nodes.0.adapter_number': integer,
      drawings: list,
      ...prefixed('drawings.0', drawing),
    },
  },
  {
    line: 'POST /v2/projects/{project_id}/bulk/delete',
    // Unknown ids: nothing is deleted.
    good: () => ({ nodes: [randomUUID()], links: [randomUUID()], drawings: [randomUUID()] }),
    fields: { nodes: list, 'nodes.0': uuid, links: list, 'links.0': uuid, drawings: list, 'drawings.0': uuid },
  },
  {
    line: 'POST /v2/projects/{project_id}/snapshots',
    good: () => ({ name: `good ${randomUUID()}` }),
    fields: { name, description: text },
  },
  {
    line: 'POST /v2/projects/{project_id}/links/{link_id}/start_capture',
    good: () => ({}),
    fields: {
      append: flag,
      capture_file_name: text,
      data_link_type: word,
      max_bytes: { is: 'integer', minimum: 24 },
      max_seconds: { is: 'integer', minimum: 1 },
      nanoseconds: flag,
      side: word,
    },
  },
  {
    line: 'POST /v2/projects/{project_id}/nodes/{vm_id}/resize_disk',
    good: () => ({ drive_name: 'hda', extend: 1 }),
    fields: { drive_name: word, extend: integer },
    relayed: true,
  },
  {
    line: 'POST /v2/templates',
    good: () => ({ name: 'good', template_type: 'qemu', compute_id: 'local' }),
    fields: { ...templateFields, compute_id: orNull(name), template_id: uuid, template_type: word },
  },
  { line: 'PUT /v2/templates/{template_id}', good: () => ({}), fields: templateFields },
  {
    line: 'POST /v2/projects/{project_id}/templates/{template_id}',
    good: () => ({ x: 1, y: 1 }),
    fields: { compute_id: orNull(text), name: orNull(text), x: integer, y: integer },
  },
  { line: 'PUT /v2/iou_license', good: () => ({}), fields: { iourc_content: text, license_check: flag } },
  {
    line: 'PUT /v2/gns3vm',
    good: () => ({}),
    fields: { allocate_vcpus_ram: flag, enable: flag, engine: word, headless: flag, port, ram: integer, vcpus: integer },
  },
  { line: 'POST /v2/computes', good: () => ({ protocol: 'http', host: '127.0.0.1', port: 1 }), fields: compute },
  { line: 'PUT /v2/computes/{remote_id}', good: () => ({}), fields: compute },
  {
    line: 'POST /v2/computes/{compute_id}/auto_idlepc',
    good: () => ({ platform: 'c7200', image: 'x', ram: 1 }),
    fields: { platform: name, image: name, ram: integer },
  },
];

export const jsonRoutes: readonly JsonRoute[] = [...controller, ...computeRoutes];
