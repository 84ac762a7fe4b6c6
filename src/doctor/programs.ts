/** The programs that Patchbay works with: what for, how they print their version, and which Debian package has them. */
import type { ProgramFacts } from '../emulators/kind.ts';
import { kinds } from '../emulators/kinds.ts';
import type { NodeType } from '../schema/node.ts';

export interface Program extends ProgramFacts {
  /** Nodes of these types do not start without it. */
  readonly nodeTypes?: readonly NodeType[];
}

/** Those that kinds of node need are in their facts. */
const ofNoKind: readonly Program[] = [
  {
    name: 'tcpdump',
    package: 'tcpdump',
    for: 'the bpf filter of links',
    versionArgs: ['--version'],
    version: /tcpdump version (\S+)/,
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

const ofKinds = Object.values(kinds).flatMap(({ type, programs: own = [] }) =>
  own.map((program): Program => (program.isEmulator ? { ...program, nodeTypes: [type] } : program)),
);

/** Those that most projects need come first. */
export const programs: readonly Program[] = [...ofKinds, ...ofNoKind].sort(
  (one, other) => Number(one.optional ?? false) - Number(other.optional ?? false),
);
