/** Where the nodes of a lab would be placed: not part of GNS3's API. */
import { Name, named, nullable, oneOf } from '../../schema/common.ts';
import { nodeTypes } from '../../schema/node.ts';
import { type Static, Type } from '../../schema/type.ts';

const PlacementNode = Type.Object(
  {
    ref: Name({ description: 'By which links of this request mean the node' }),
    node_type: oneOf(nodeTypes),
    properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    compute_id: Type.Optional(Name({ description: 'It has to be there; default: anywhere' })),
  },
  named('PlacementNode'),
);
const PlacementLink = Type.Object(
  {
    nodes: Type.Array(Name(), { minItems: 2, maxItems: 2, description: 'Two refs' }),
    delay: Type.Optional(Type.Number({ minimum: 0, description: 'Milliseconds: a link that has one is cut rather than others' })),
  },
  named('PlacementLink'),
);

export const PlacementRequest = Type.Object(
  { nodes: Type.Array(PlacementNode, { maxItems: 2_000 }), links: Type.Optional(Type.Array(PlacementLink, { maxItems: 5_000 })) },
  named('PlacementRequest'),
);
export const PlacementReply = Type.Object(
  {
    nodes: Type.Array(
      Type.Object({ ref: Type.String(), compute_id: nullable(Type.String({ description: 'null: it fits on none' })) }),
    ),
    cut: Type.Integer({ description: 'Links between two computes' }),
  },
  named('PlacementReply'),
);
const Resources = Type.Object({ cpus: Type.Number(), memory: Type.Number({ description: 'MiB' }) }, named('PlacementResources'));
const PlacedNode = Type.Object(
  {
    node_id: Type.String(),
    name: Type.String(),
    compute_id: Type.String(),
    compute: nullable(Type.String({ description: 'Name of the compute; null: it is not registered any more' })),
    host: nullable(Type.String({ description: 'Address of the compute, or the host that the engine of its slice names' })),
    state: oneOf(['placed', 'pending'], { description: 'pending: it cannot run there now, or has to leave' }),
    reason: Type.String({ description: 'Why it is there, or what it waits for' }),
    waiting_for: nullable(Type.String({ description: 'A sentence: why it does not run, or stays; null: it does not wait' })),
    since: nullable(Type.String({ description: 'When that began, as ISO 8601' })),
    attempts: Type.Integer({ description: 'How often it was tried since' }),
    wanted: oneOf(['running', 'stopped'], { description: 'Whether it is to run; switches always are' }),
    copied_at: nullable(
      Type.String({ description: 'When its files were copied to this server last; null: never, or they do not end with the host' }),
    ),
    started_from: nullable(
      Type.String({ description: 'Its host was lost, and it was started with the files of that time; null: neither' }),
    ),
    needs: Resources,
  },
  named('PlacedNode'),
);
const PlacementCompute = Type.Object(
  {
    compute_id: Type.String(),
    name: Type.String(),
    reason: nullable(Type.String({ description: 'Why no node is placed there; null: nodes are' })),
    size: Type.Object({ cpus: nullable(Type.Number()), memory: nullable(Type.Number({ description: 'MiB; null: unknown' })) }),
    used: Resources,
  },
  named('PlacementCompute'),
);
export const ProjectPlacement = Type.Object(
  { nodes: Type.Array(PlacedNode), computes: Type.Array(PlacementCompute) },
  named('ProjectPlacement'),
);
export type ProjectPlacement = Static<typeof ProjectPlacement>;

export type PlacementRequest = Static<typeof PlacementRequest>;
export type PlacementReply = Static<typeof PlacementReply>;
