/** A project as a small picture. Not part of GNS3's API. */
import { named, Uuid } from './common.ts';
import { type Static, Type } from './type.ts';

/** Most points and lines; a small picture cannot show more. */
export const outlineLimit = { points: 200, lines: 400 } as const;

const count = Type.Integer({ minimum: 0 });

export const ProjectOutline = Type.Object(
  {
    nodes: count,
    links: count,
    points: Type.Array(Type.Object({ x: Type.Number(), y: Type.Number() }), {
      maxItems: outlineLimit.points,
      description: 'Where nodes are: their top left corners',
    }),
    lines: Type.Array(Type.Object({ from: count, to: count }), {
      maxItems: outlineLimit.lines,
      description: 'Links: the indexes of their ends in `points`',
    }),
  },
  named('ProjectOutline'),
);
export type ProjectOutline = Static<typeof ProjectOutline>;

/** Most nodes and links of a snapshot's outline. */
export const snapshotOutlineLimit = { nodes: 2_000, links: 4_000 } as const;

export const SnapshotOutline = Type.Object(
  {
    nodes: Type.Array(Type.Object({ node_id: Uuid, name: Type.String(), x: Type.Number(), y: Type.Number() }), {
      maxItems: snapshotOutlineLimit.nodes,
      description: 'Nodes with the places of their top left corners',
    }),
    links: Type.Array(Type.Object({ link_id: Uuid, ends: Type.Array(Uuid, { description: 'Ids of its nodes' }) }), {
      maxItems: snapshotOutlineLimit.links,
    }),
    complete: Type.Boolean({ description: 'False: the snapshot has more nodes or links' }),
  },
  named('SnapshotOutline'),
);
export type SnapshotOutline = Static<typeof SnapshotOutline>;
