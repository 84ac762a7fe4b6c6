import { fault } from '../../../api/faults.ts';
import { type Route, route } from '../../../api/route.ts';
import type { Kind, TemplateFacts } from '../../../emulators/kind.ts';
import { kinds } from '../../../emulators/kinds.ts';
import { KindFacts, KindSchemas } from '../../../schema/kind.ts';
import { type NodeType, nodeTypes } from '../../../schema/node.ts';
import { type TSchema, Type } from '../../../schema/type.ts';
import { isImageProperty } from '../../model/node-images.ts';

export function kindRoutes(): Route[] {
  const facts = Object.freeze(Object.values(kinds).flatMap((kind) => (kind ? [factsOf(kind)] : [])));
  return [
    route(
      'GET /v2/kinds',
      { right: 'login', summary: 'What each type of node can do', reply: Type.Array(KindFacts), own: true },
      () => facts,
    ),
    route(
      'GET /v2/kinds/{node_type}/schemas',
      {
        right: 'login',
        summary: 'What can be set of a node of this type, and of a template for it',
        reply: KindSchemas,
        own: true,
      },
      ({ path, query }) => schemasOf(path.node_type, query),
    ),
  ];
}

function factsOf({
  type,
  title,
  alwaysRunning,
  consoleTypes,
  defaults,
  images,
  can,
  template,
  programs = [],
  engineImages,
  lab = {},
  converted,
  imageProperties,
  create,
  update,
}: Kind): KindFacts {
  const { properties = {} } = update as { properties?: object };
  const required = ((create as { required?: readonly string[] }).required ?? []).filter((key) => key !== 'name');
  return {
    node_type: type,
    title,
    symbol: template.symbol,
    always_running: alwaysRunning,
    console_type: consoleTypes.length === 0 ? null : defaults.console_type,
    console_types: [...consoleTypes],
    emulator: programs.some(({ isEmulator }) => isEmulator === true),
    images: images !== undefined,
    engine_images: engineImages === true,
    image_properties: imageProperties ? [...imageProperties] : images ? Object.keys(properties).filter(isImageProperty) : [],
    templates: template.properties !== undefined,
    lab: {
      ...(lab.image && { image: lab.image }),
      ...(lab.memory && { memory: lab.memory }),
      ...(lab.cpus && { cpus: lab.cpus }),
      ...(lab.startupFile && { startup_file: lab.startupFile }),
      ...(lab.imageDefaults && { image_defaults: { ...lab.imageDefaults } }),
      ...(lab.configDisk && { config_disk: { ...lab.configDisk, files: [...lab.configDisk.files] } }),
      ...(lab.files && { files: [...lab.files] }),
      ...(lab.portList && { port_list: lab.portList }),
      ...(required.length > 0 && { required }),
      fixed: [...(lab.fixed ?? [])],
      generated: [...(lab.generated ?? [])],
    },
    port_name_format: defaults.port_name_format,
    port_segment_size: defaults.port_segment_size,
    can: {
      suspend: can.suspend,
      reload: can.reload,
      duplicate: can.duplicate,
      filter: can.filter,
      mirror: can.mirror === true,
      reset_console: can.resetConsole,
      resize_disk: can.resizeDisk === true,
      convert: converted !== undefined,
      save_memory: can.liveMove === true,
    },
  };
}

/** `settings`: properties on which others depend, such as the platform of a router. @throws `node_type_unavailable` */
function schemasOf(type: string, settings: Readonly<Record<string, string>>): KindSchemas {
  const kind = nodeTypes.includes(type as NodeType) ? kinds[type as NodeType] : undefined;
  if (!kind) throw fault('node_type_unavailable', { node_type: type, reason: 'GET /v2/kinds lists those that it has' });
  const { properties = {} } = kind.update as { properties?: Record<string, TSchema> };
  return {
    node: { properties: withDefaults(properties, kind.nodeDefaults ?? {}) },
    template: templateForm(kind.template, settings),
  };
}

function withDefaults(properties: Readonly<Record<string, TSchema>>, defaults: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [key, key in defaults ? { ...schema, default: defaults[key] } : schema]),
  );
}

function templateForm(facts: TemplateFacts, settings: Readonly<Record<string, string>>): KindSchemas['template'] {
  if (!facts.properties) return null;
  const { required = [], properties } = Type.Object({ ...facts.properties, ...facts.more?.(settings) }) as {
    required?: string[];
    properties: Record<string, { default?: unknown }>;
  };
  return { properties, required: required.filter((key) => properties[key]?.default === undefined) };
}
