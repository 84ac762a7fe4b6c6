import { GivenName, Mac, Name, named, nullable, oneOf, strict, TcpPort, Text, Uuid } from './common.ts';
import { type Static, Type } from './type.ts';

export const nodeTypes = [
  'cloud',
  'nat',
  'ethernet_hub',
  'ethernet_switch',
  'frame_relay_switch',
  'atm_switch',
  'docker',
  'dynamips',
  'vpcs',
  'traceng',
  'virtualbox',
  'vmware',
  'iou',
  'qemu',
] as const;
export type NodeType = (typeof nodeTypes)[number];

/** Types with built-in templates only. */
const builtInOnly = ['frame_relay_switch', 'atm_switch'] as const satisfies readonly NodeType[];
/** Types of templates that clients can create. */
export const templateTypes = nodeTypes.filter(
  (type): type is Exclude<NodeType, (typeof builtInOnly)[number]> => !(builtInOnly as readonly string[]).includes(type),
);

export const consoleTypes = ['vnc', 'telnet', 'http', 'https', 'spice', 'spice+agent', 'none'] as const;
export type ConsoleType = (typeof consoleTypes)[number];

export const NodeStatus = oneOf(['stopped', 'started', 'suspended']);
export type NodeStatus = Static<typeof NodeStatus>;

export const Label = Type.Object(
  {
    rotation: Type.Optional(Type.Integer({ minimum: -359, maximum: 360 })),
    style: Type.Optional(nullable(Text({ description: 'CSS-like style text' }))),
    text: Text(),
    x: Type.Optional(nullable(Type.Integer({ description: 'null: centred' }))),
    y: Type.Optional(Type.Integer()),
  },
  named('Label'),
);
export type Label = Static<typeof Label>;

/** Id of a node in a compute's creation request; very old projects have numbers. */
export const ComputeNodeId = Type.Optional(
  Type.Union([Uuid, Type.Integer({ description: 'Number of a node in an old project: a new id is made' })]),
);

export const CustomAdapters = Type.Array(
  Type.Object(
    {
      adapter_number: Type.Integer(),
      adapter_type: Type.Optional(Name()),
      mac_address: Type.Optional(Mac),
      port_name: Type.Optional(Name()),
    },
    strict,
  ),
);
export type CustomAdapters = Static<typeof CustomAdapters>;

/** Keys of the node object that only the server sets: accepted in requests, so that clients may send a node back, and ignored. */
const readOnly = {
  command_line: Type.Optional(nullable(Type.String())),
  console_host: Type.Optional(nullable(Type.String())),
  height: Type.Optional(nullable(Type.Integer())),
  node_directory: Type.Optional(nullable(Type.String())),
  ports: Type.Optional(Type.Unknown()),
  project_id: Type.Optional(Uuid),
  status: Type.Optional(NodeStatus),
  width: Type.Optional(nullable(Type.Integer())),
};
export const readOnlyNodeKeys = Object.keys(readOnly);

const writable = {
  console: Type.Optional(nullable(TcpPort)),
  console_auto_start: Type.Optional(Type.Boolean()),
  console_type: Type.Optional(nullable(oneOf(consoleTypes))),
  custom_adapters: Type.Optional(CustomAdapters),
  first_port_name: Type.Optional(nullable(Text())),
  label: Type.Optional(Label),
  locked: Type.Optional(Type.Boolean()),
  port_name_format: Type.Optional(Text()),
  port_segment_size: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  symbol: Type.Optional(nullable(Name())),
  template_id: Type.Optional(nullable(Uuid)),
  x: Type.Optional(Type.Integer()),
  y: Type.Optional(Type.Integer()),
  z: Type.Optional(Type.Integer()),
};

export const NodeCreate = Type.Object(
  { ...writable, ...readOnly, compute_id: Name(), name: GivenName(), node_id: Type.Optional(Uuid), node_type: oneOf(nodeTypes) },
  named('NodeCreate'),
);
/** Whether a node is refused for lack of an image or program. Not part of GNS3's API, which always refuses. */
export const strictChoice = Type.Optional(
  Type.Boolean({
    description:
      'False: a node whose image or program its compute does not have is made, says what it lacks, and needs it at its start',
  }),
);
export const NodeRequest = Type.Object({ ...NodeCreate.properties, strict: strictChoice }, named('NodeRequest'));
export const NodeUpdate = Type.Object(
  {
    ...writable,
    ...readOnly,
    compute_id: Type.Optional(Name()),
    name: Type.Optional(GivenName()),
    node_id: Type.Optional(Uuid),
    node_type: Type.Optional(oneOf(nodeTypes)),
    // GNS3's clients may send the adapters among the properties.
    properties: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { properties: { custom_adapters: CustomAdapters } })),
  },
  named('NodeUpdate'),
);
/** Position of the copy of a node. */
export const NodeDuplicate = Type.Object(
  { x: Type.Integer(), y: Type.Integer(), z: Type.Optional(Type.Integer({ default: 0 })) },
  named('NodeDuplicate'),
);
export type NodeDuplicate = Static<typeof NodeDuplicate>;
export type NodeCreate = Static<typeof NodeCreate>;
export type NodeUpdate = Static<typeof NodeUpdate>;

/** A port of a node in the API. */
export const Port = Type.Object(
  {
    adapter_number: Type.Integer(),
    adapter_type: Type.Optional(Type.String()),
    data_link_types: Type.Record(Type.String(), Type.String(), { description: 'Label to DLT name, for captures' }),
    link_type: oneOf(['ethernet', 'serial']),
    mac_address: Type.Optional(Type.String()),
    name: Type.String(),
    port_number: Type.Integer(),
    short_name: Type.String(),
  },
  named('Port'),
);
export type Port = Static<typeof Port>;

/** The node object of the controller's API. */
export const Node = Type.Object(
  {
    command_line: nullable(Type.String()),
    compute_id: Type.String(),
    console: nullable(Type.Integer({ description: 'TCP port' })),
    console_auto_start: Type.Boolean(),
    console_host: Type.String(),
    console_type: nullable(oneOf(consoleTypes)),
    custom_adapters: CustomAdapters,
    first_port_name: nullable(Type.String()),
    height: Type.Integer({ description: 'Size of the node’s symbol, pixels' }),
    label: Label,
    locked: Type.Boolean(),
    name: Type.String(),
    node_directory: nullable(Type.String()),
    node_id: Uuid,
    node_type: oneOf(nodeTypes),
    port_name_format: Type.String(),
    port_segment_size: Type.Integer(),
    ports: Type.Array(Port),
    project_id: Uuid,
    properties: Type.Record(Type.String(), Type.Unknown(), { description: 'Properties of the node’s type' }),
    status: NodeStatus,
    symbol: Type.String(),
    template_id: nullable(Uuid),
    width: Type.Integer({ description: 'Size of the node’s symbol, pixels' }),
    x: Type.Integer(),
    y: Type.Integer(),
    z: Type.Integer(),
  },
  named('Node'),
);
export type Node = Static<typeof Node>;

/** Default position of a label, relative to its node: centred above. Halves are rounded to the even number. */
export function labelOffset(height: number): number {
  const offset = height / 2 + 10;
  const down = Math.floor(offset);
  const rounded = offset - down === 0.5 ? down + (down % 2) : Math.round(offset);
  return -rounded;
}
