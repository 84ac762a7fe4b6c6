import { named, oneOf } from './common.ts';
import { type Static, Type } from './type.ts';

/** What `patchbay doctor` says of one program, or of KVM. */
export const Finding = Type.Object(
  {
    state: oneOf(['good', 'note', 'missing'], { description: 'note: works, but something is worth knowing' }),
    what: Type.String(),
    found: Type.String({ description: 'Version and place, or what is wrong' }),
    package: Type.Optional(Type.String({ description: 'Debian packages that bring it' })),
  },
  named('Finding'),
);
export type Finding = Readonly<Static<typeof Finding>>;
