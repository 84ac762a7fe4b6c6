import { named, oneOf } from './common.ts';
import { nodeTypes } from './node.ts';
import { type Static, Type } from './type.ts';

/** A result of `patchbay doctor`, about a program or KVM. */
export const Finding = Type.Object(
  {
    state: oneOf(['good', 'note', 'missing'], { description: 'note: works, but something is worth knowing' }),
    what: Type.String(),
    found: Type.String({ description: 'Version and place, or what is wrong' }),
    node_types: Type.Optional(
      Type.Array(oneOf(nodeTypes), { description: 'Nodes that need it; of KVM, those that run slower without it' }),
    ),
    required: Type.Optional(Type.Literal(true, { description: 'Nodes of these types do not start without the program' })),
    package: Type.Optional(Type.String({ description: 'Debian packages that bring it' })),
  },
  named('Finding'),
);
export type Finding = Readonly<Static<typeof Finding>>;
