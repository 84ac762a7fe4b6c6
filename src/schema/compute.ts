import { Name, named, nullable, oneOf, TcpPort, Text } from './common.ts';
import { nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

const fields = {
  compute_id: Type.Optional(Name()),
  name: Type.Optional(Name()),
  password: Type.Optional(nullable(Text())),
  user: Type.Optional(nullable(Text())),
};
const address = { host: Name(), port: TcpPort, protocol: oneOf(['http', 'https']) };

export const ComputeCreate = Type.Object({ ...fields, ...address }, named('ComputeCreate'));
export const ComputeUpdate = Type.Object(
  {
    ...fields,
    host: Type.Optional(address.host),
    port: Type.Optional(address.port),
    protocol: Type.Optional(address.protocol),
  },
  named('ComputeUpdate'),
);
export type ComputeCreate = Static<typeof ComputeCreate>;
export type ComputeUpdate = Static<typeof ComputeUpdate>;

/** Link features beyond the GNS3 API; versions of Patchbay differ in them. */
export const linkFeatures = ['link_state', 'mirrors', 'outages', 'paths', 'remote_mirrors', 'schedules'] as const;
export type LinkFeature = (typeof linkFeatures)[number];

export const Capabilities = Type.Object(
  {
    version: nullable(Type.String()),
    node_types: Type.Array(oneOf(nodeTypes)),
    platform: Type.Optional(nullable(Type.String())),
    link_encryption: Type.Optional(
      oneOf(['preferred', 'required'], { description: 'Not in GNS3: links over TCP can be, or must be, encrypted' }),
    ),
    link_features: Type.Optional(
      Type.Array(oneOf(linkFeatures), { description: 'Not in GNS3: features of links beyond the GNS3 API' }),
    ),
    image_transfers: Type.Optional(Type.Boolean({ description: 'Not in GNS3: computes send images to each other' })),
    incarnations: Type.Optional(
      Type.Boolean({ description: 'Not in GNS3: the compute removes machines and files of a project that was rewound since' }),
    ),
    live_moves: Type.Optional(Type.Boolean({ description: 'Not in GNS3: running machines can move to and from this compute' })),
    sealed_moves: Type.Optional(
      Type.Boolean({ description: 'Not in GNS3: the streams of running machines that move are authenticated' }),
    ),
    machine_taps: Type.Optional(
      Type.Boolean({
        description: 'Not in GNS3: QEMU machines have TAP interfaces, so machines with offloads of the kernel can continue there',
      }),
    ),
    node_runs: Type.Optional(
      Type.Boolean({ description: 'Not in GNS3: lists all nodes of a project with the start of each, and how its last run ended' }),
    ),
    number_ranges: Type.Optional(
      Type.Boolean({ description: 'Not in GNS3: numbers of nodes begin where the controller says (number_from of a project)' }),
    ),
    resources: Type.Optional(
      Type.Object(
        { cpus: Type.Number(), memory: Type.Integer({ description: 'MiB' }) },
        { description: 'Not in GNS3: resources of the host for all nodes together' },
      ),
    ),
    link_streams: Type.Optional(Type.Boolean({ description: 'Not in GNS3: links to other computes can go over TCP' })),
  },
  { title: 'Capabilities' },
);

/** The compute object; it never contains the password. */
export const ComputeObject = Type.Object(
  {
    capabilities: Capabilities,
    compute_id: Type.String(),
    connected: Type.Boolean(),
    cpu_usage_percent: nullable(Type.Number()),
    host: Type.String(),
    last_error: nullable(Type.String()),
    memory_usage_percent: nullable(Type.Number()),
    name: Type.String(),
    port: Type.Integer(),
    protocol: oneOf(['http', 'https']),
    user: nullable(Type.String()),
  },
  named('Compute'),
);
export type ComputeObject = Static<typeof ComputeObject>;
