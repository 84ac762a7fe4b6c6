/** Lists the programs that Patchbay uses: their purpose, version output and Debian package. */
import type { ProgramFacts } from '../emulators/kind.ts';
import { kinds } from '../emulators/kinds.ts';
import type { NodeType } from '../schema/node.ts';

export interface Program extends ProgramFacts {
  /** Nodes of these types do not start without the program. */
  readonly nodeTypes?: readonly NodeType[];
}

/** Nodes of these types do not start where emulators cannot be confined. */
export const confinedTypes: readonly NodeType[] = Object.values(kinds).flatMap(({ type, needsNamespaces }) =>
  needsNamespaces ? [type] : [],
);

/** Programs that are not of one node type. */
const ofNoKind: readonly Program[] = [
  {
    name: 'tcpdump',
    package: 'tcpdump',
    for: 'the bpf filter of links',
    versionArgs: ['--version'],
    version: /tcpdump version (\S+)/,
  },
  {
    name: 'bwrap',
    package: 'bubblewrap',
    for: `emulators, and programs that read what clients send, without files and processes of the host; nodes of ${confinedTypes.join(' and ')} start`,
    versionArgs: ['--version'],
    version: /bubblewrap (\S+)/,
    optional: true,
  },
  {
    name: 'bzip2',
    package: 'bzip2',
    for: 'imports packed with bzip2',
    versionArgs: ['--help'],
    version: /Version ([\d.]+)/,
    optional: true,
  },
  {
    name: 'xz',
    package: 'xz-utils',
    for: 'imports packed with LZMA',
    versionArgs: ['--version'],
    version: /xz \(XZ Utils\) (\S+)/,
    optional: true,
  },
];

const ofKinds = new Map<string, Program>();
for (const { type, programs: own = [] } of Object.values(kinds)) {
  for (const program of own) {
    const known = ofKinds.get(program.name) ?? program;
    const nodeTypes = [...((known as Program).nodeTypes ?? []), ...(program.isEmulator ? [type] : [])];
    const uses = [...new Set([known.for, program.for])].join(', ');
    ofKinds.set(program.name, { ...known, for: uses, ...(nodeTypes.length > 0 && { nodeTypes }) });
  }
}

/** All programs, the ones that most projects need first. */
export const programs: readonly Program[] = [...ofKinds.values(), ...ofNoKind].sort(
  (one, other) => Number(one.optional ?? false) - Number(other.optional ?? false),
);
