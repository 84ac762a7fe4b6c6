/** Changes many nodes, links and drawings in one request. Not part of GNS3's API. */
import { Name, named, Uuid } from './common.ts';
import { Drawing, DrawingInput } from './drawing.ts';
import { Link, LinkEnd, LinkInput } from './link.ts';
import { Node, NodeCreate } from './node.ts';
import { type Static, Type } from './type.ts';

/** Limit per list of one request. */
const most = { maxItems: 5_000 };

const { node_id, ...end } = LinkEnd.properties;
const { link_style, filters, suspend, link_id } = LinkInput.properties;

const BulkNode = Type.Object(
  {
    ...NodeCreate.properties,
    ref: Type.Optional(Name({ description: 'A name by which links of this request mean the node' })),
    warm_template: Type.Optional({
      ...Uuid,
      description: 'Template with `warm`: the node gets its disks, and continues from its memory at its first start',
    } as typeof Uuid),
  },
  named('BulkNode'),
);
const BulkEnd = Type.Object(
  {
    ...end,
    node_id: Type.Optional(node_id),
    ref: Type.Optional(Name({ description: 'In place of node_id: a node of this request' })),
  },
  named('BulkEnd'),
);
const BulkLink = Type.Object(
  { link_style, filters, suspend, link_id, nodes: Type.Array(BulkEnd, { minItems: 2, maxItems: 2 }) },
  named('BulkLink'),
);

export const BulkCreate = Type.Object(
  {
    nodes: Type.Optional(Type.Array(BulkNode, most)),
    links: Type.Optional(Type.Array(BulkLink, most)),
    drawings: Type.Optional(Type.Array(DrawingInput, most)),
    strict: Type.Optional(
      Type.Boolean({
        description:
          'Refuse nodes whose image or program their compute does not have. Default: they are made, say what they lack, and need it at their start',
      }),
    ),
  },
  named('BulkCreate'),
);
export type BulkCreate = Static<typeof BulkCreate>;
export type BulkNode = Static<typeof BulkNode>;
export type BulkLink = Static<typeof BulkLink>;
export type BulkEnd = Static<typeof BulkEnd>;

const { locked: nodeLocked, label, x, y, z } = NodeCreate.properties;
const { locked, rotation, ...drawing } = DrawingInput.properties;

const NodePlacement = Type.Object({ node_id: Uuid, x, y, z, label, locked: nodeLocked }, named('NodePlacement'));
export type NodePlacement = Static<typeof NodePlacement>;
const DrawingPlacement = Type.Object(
  { drawing_id: Uuid, x: drawing.x, y: drawing.y, z: drawing.z, rotation, locked },
  named('DrawingPlacement'),
);
export type DrawingPlacement = Static<typeof DrawingPlacement>;

/** Limit per list: the changes take effect at one instant, which must be short. */
const mostPlaced = { maxItems: 2_000 };

/** Positions of nodes and drawings; absent fields stay unchanged. */
export const BulkUpdate = Type.Object(
  {
    nodes: Type.Optional(Type.Array(NodePlacement, mostPlaced)),
    drawings: Type.Optional(Type.Array(DrawingPlacement, mostPlaced)),
  },
  named('BulkUpdate'),
);
export type BulkUpdate = Static<typeof BulkUpdate>;

/** Limit per list of ids; a deleted node's links are deleted with it. */
const mostDeleted = { maxItems: 5_000 };
export const BulkDelete = Type.Object(
  {
    nodes: Type.Optional(Type.Array(Uuid, mostDeleted)),
    links: Type.Optional(Type.Array(Uuid, mostDeleted)),
    drawings: Type.Optional(Type.Array(Uuid, mostDeleted)),
  },
  named('BulkDelete'),
);
export type BulkDelete = Static<typeof BulkDelete>;

/** The created objects, in the order of the request. */
export const Bulk = Type.Object({ nodes: Type.Array(Node), links: Type.Array(Link), drawings: Type.Array(Drawing) }, named('Bulk'));
