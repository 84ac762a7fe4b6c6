/** Projects and nodes as a compute shows them. Source: the GNS3 2.2 compute API. */
import { named, nullable, oneOf, Uuid } from './common.ts';
import { consoleTypes, NodeStatus } from './node.ts';
import { Variables } from './project.ts';
import { Type } from './type.ts';

export const ComputeProject = Type.Object(
  { name: nullable(Type.String()), project_id: Uuid, variables: nullable(Variables) },
  named('ComputeProject'),
);

/** Beside these keys a node has those of its kind. */
export const ComputeNode = Type.Object(
  {
    name: Type.String(),
    node_id: Uuid,
    project_id: Uuid,
    status: Type.Optional(NodeStatus),
    console: Type.Optional(nullable(Type.Integer())),
    console_type: Type.Optional(nullable(oneOf(consoleTypes))),
  },
  { title: 'ComputeNode' },
);

export const UdpPort = Type.Object({ udp_port: Type.Integer() }, named('UdpPort'));
export const FileEntry = Type.Object({ path: Type.String(), md5sum: Type.String() }, named('FileEntry'));
