/**
 * A root folder with one program, its libraries and the files that it is given, and nothing else, as words of bubblewrap: a program in it finds
 * no shell and no file of the host, and has no capability.
 */
import { dirname, normalize } from 'node:path';
import { fault } from '../../../api/faults.ts';
import { runTool } from '../../../process/tool.ts';
import { requireProgram } from '../find-program.ts';
import type { RunAs } from '../run-as.ts';

/** Paths of a file or folder on the host and below the new root. */
type BoundPath = readonly [source: string, inside: string];

interface PrivateRoot {
  readonly reads: readonly BoundPath[];
  readonly writes: readonly BoundPath[];
  /** Absolute paths of libraries, the same inside. */
  readonly libraries: readonly string[];
  readonly tmpBytes: number;
  readonly runAs: RunAs | undefined;
}

/** Path of the writable folder below the new root. */
export const innerWork = '/work';
/** Changes the user, then becomes the program. */
const innerSetpriv = '/setpriv';

export interface PrivateRootWords {
  /** Arguments of bubblewrap. */
  readonly root: readonly string[];
  /** Words that stand before the program. */
  readonly identity: readonly string[];
}

export async function privateRoot({ reads, writes, libraries, tmpBytes, runAs }: PrivateRoot): Promise<PrivateRootWords> {
  const setpriv = runAs && (await requireProgram('setpriv', 'util-linux'));
  const needed = [...libraries, ...(setpriv === undefined ? [] : await librariesOf(setpriv))];
  const read: BoundPath[] = [
    ...reads,
    // A program says where its libraries are: with "..", they would come to lie elsewhere.
    ...[...new Set(needed)].map((path): BoundPath => [path, normalize(path)]),
    ...(setpriv === undefined ? [] : [[setpriv, innerSetpriv] as const]),
  ];
  const above = new Set([...read, ...writes].flatMap(([, inside]) => foldersAbove(inside)));
  const root = [
    ...['--dev', '/dev', '--perms', '1777', '--size', String(tmpBytes), '--tmpfs', '/tmp'],
    ...[...above].flatMap((folder) => ['--dir', folder]),
    ...writes.flatMap(([source, inside]) => ['--bind', source, inside]),
    ...read.flatMap(([source, inside]) => ['--ro-bind', source, inside]),
    ...(runAs ? [] : ['--cap-drop', 'ALL']),
  ];
  const ids = runAs && [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'];
  return { root, identity: ids ? [innerSetpriv, ...ids, '--bounding-set=-all', '--inh-caps=-all', '--'] : [] };
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === '/' ? [] : [...foldersAbove(folder), folder];
}

const listLimitMs = 5000;

/** Libraries of a program of the host, and its dynamic linker; none for a static one. @see ldd(1) */
export async function librariesOf(program: string): Promise<string[]> {
  const { code, stdout, stderr, reason } = await runTool('ldd', [program], { timeoutMs: listLimitMs });
  if (/not a dynamic executable|statically linked/.test(`${stdout}${stderr}`)) return [];
  if (code !== 0) throw fault('confinement_failed', { program, reason: `its libraries cannot be listed: ${reason}` });
  // "name => /path (0x…)", or "/path (0x…)" for the linker; the kernel's own has no path.
  return [...stdout.matchAll(/(?:^|=>)\s*(\/\S+) \(0x/gm)].flatMap(([, path]) => path ?? []);
}
