/** Where the nodes of a lab would be placed: not part of GNS3's API. */
import { Name, named, nullable, oneOf } from './common.ts';
import { nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

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
export type PlacementRequest = Static<typeof PlacementRequest>;
export type PlacementReply = Static<typeof PlacementReply>;
