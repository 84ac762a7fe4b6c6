/** Projects and nodes in a compute's API. Source: the GNS3 2.2 compute API. */
import { named, nullable, oneOf, strict, Uuid } from './common.ts';
import { consoleTypes, NodeStatus } from './node.ts';
import { Variables } from './project.ts';
import { ColdNode } from './snapshot.ts';
import { type Static, Type } from './type.ts';

export const ComputeProject = Type.Object(
  { name: nullable(Type.String()), project_id: Uuid, variables: nullable(Variables) },
  named('ComputeProject'),
);

/** A node of the compute; each node type adds keys. */
export const ComputeNode = Type.Object(
  {
    name: Type.String(),
    node_id: Uuid,
    project_id: Uuid,
    status: Type.Optional(NodeStatus),
    interrupted: Type.Optional(
      Type.Boolean({
        description:
          'Not in GNS3, for slices: the node was stopped because the lease was over or the slice ended, and should run again',
      }),
    ),
    console: Type.Optional(nullable(Type.Integer())),
    console_type: Type.Optional(nullable(oneOf(consoleTypes))),
    command_line: Type.Optional(nullable(Type.String())),
    node_directory: Type.Optional(nullable(Type.String())),
  },
  { title: 'ComputeNode' },
);

/** Event of a compute's `ping`. */
export const ComputeUsage = Type.Object(
  { cpu_usage_percent: Type.Number(), memory_usage_percent: Type.Number() },
  named('ComputeUsage'),
);

/** Deletes a node, with its files unless they are kept. */
export const ComputeNodeDelete = Type.Object(
  {
    keep_files: Type.Optional(
      Type.Boolean({
        description:
          'Not in GNS3: keep its files among those of the last deleted nodes; restore_files puts them back when the node is made again',
      }),
    ),
  },
  { title: 'ComputeNodeDelete' },
);

/** Result of freezing a project. */
export const ComputeFreeze = Type.Object(
  {
    paused_ms: Type.Integer({ description: 'How long the machines were paused, at most' }),
    skew_ms: Type.Number({ description: 'Between the pause of the first machine and that of the last one' }),
    frozen_at: Type.Integer({ description: 'Milliseconds since 1970' }),
    memory: Type.Array(Type.Object({ node_id: Uuid, bytes: Type.Integer({ description: 'Size of its memory' }) }, strict)),
    cold: Type.Array(ColdNode),
  },
  named('ComputeFreeze'),
);

/** A running machine whose state was saved for a template. */
export const WarmMachine = Type.Object(
  {
    bytes: Type.Integer({ description: 'On disk' }),
    paused_ms: Type.Integer({ description: 'How long it was paused' }),
  },
  named('WarmMachine'),
);

export const UdpPort = Type.Object({ udp_port: Type.Integer() }, named('UdpPort'));
/** A file of a node's folder. */
export const NodeFile = Type.Object(
  {
    path: Type.String({ description: "In the node's folder" }),
    size: Type.Integer({ minimum: 0 }),
    created_at: Type.Number({ description: 'Milliseconds since 1970' }),
    modified_at: Type.Number({ description: 'Milliseconds since 1970' }),
  },
  named('NodeFile'),
);
export type NodeFile = Static<typeof NodeFile>;

export const FileEntry = Type.Object({ path: Type.String(), md5sum: Type.String() }, named('FileEntry'));
