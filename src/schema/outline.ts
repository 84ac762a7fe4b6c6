/** A project as a small picture. Not part of GNS3's API. */
import { named } from './common.ts';
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
