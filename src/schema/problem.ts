/** Problems of an open project's parts. Not part of GNS3's API. */
import { named, oneOf } from './common.ts';
import { type Static, Type } from './type.ts';

export const Problem = Type.Object(
  {
    id: Type.String({ description: 'Id of the node or link' }),
    kind: oneOf(['node', 'link']),
    message: Type.String({ description: 'For people: the reason' }),
    name: Type.String({ description: 'Name of the node, or of the link’s two nodes' }),
  },
  named('Problem'),
);
export type Problem = Static<typeof Problem>;
