/** What types of nodes can, for pages that offer only what works: ours, beyond the established API. */
import { named, nullable, oneOf } from './common.ts';
import { consoleTypes, nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

const can = (description: string) => Type.Boolean({ description });

export const KindFacts = Type.Object(
  {
    node_type: oneOf(nodeTypes),
    title: Type.String({ description: 'For people' }),
    always_running: Type.Boolean({ description: 'Is started when it is made, and stays so' }),
    console_type: nullable(oneOf(consoleTypes, { description: 'That of a node whose maker does not say; null: no console' })),
    console_types: Type.Array(oneOf(consoleTypes)),
    images: Type.Boolean({ description: 'Is made of images that computes keep' }),
    can: Type.Object(
      {
        suspend: can('Suspend and resume'),
        reload: can('Reset while it runs'),
        duplicate: can('Copy a node with its files'),
        filter: can('Filters on its links; one end of a link must'),
        reset_console: can('Cut all clients of the console'),
        resize_disk: can('Make disks larger'),
      },
      named('KindAbilities'),
    ),
  },
  named('KindFacts'),
);
export type KindFacts = Static<typeof KindFacts>;
