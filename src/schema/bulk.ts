/** Many nodes, links and drawings in one request: ours, beyond the GNS3 API. */
import { Name, named } from './common.ts';
import { Drawing, DrawingInput } from './drawing.ts';
import { Link, LinkEnd, LinkInput } from './link.ts';
import { Node, NodeCreate } from './node.ts';
import { type Static, Type } from './type.ts';

/** Of each sort, in one request. */
const most = { maxItems: 5_000 };

const { node_id, ...end } = LinkEnd.properties;
const { link_style, filters, suspend, link_id } = LinkInput.properties;

const BulkNode = Type.Object(
  { ...NodeCreate.properties, ref: Type.Optional(Name({ description: 'A name by which links of this request mean the node' })) },
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
  },
  named('BulkCreate'),
);
export type BulkCreate = Static<typeof BulkCreate>;
export type BulkNode = Static<typeof BulkNode>;
export type BulkLink = Static<typeof BulkLink>;
export type BulkEnd = Static<typeof BulkEnd>;

/** In the order of the request. */
export const Bulk = Type.Object({ nodes: Type.Array(Node), links: Type.Array(Link), drawings: Type.Array(Drawing) }, named('Bulk'));
