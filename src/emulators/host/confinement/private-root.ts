/**
 * A root folder with one program, its libraries, one writable folder and terminals, and nothing else: a program in it finds no shell and no
 * file of the host. The folder is only mount points; the mounts exist in the program's mount namespace alone.
 */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, normalize } from 'node:path';
import { fault } from '../../../api/faults.ts';
import { runTool } from '../../../process/tool.ts';
import type { Mount } from './mount-table.ts';

export interface PrivateRoot {
  /** The mount points; must not exist. */
  readonly folder: string;
  readonly program: string;
  /** The program's name below the new root. Default: its own. */
  readonly innerName?: string;
  /** Absolute paths of what the dynamic linker loads. */
  readonly libraries: readonly string[];
  /** The writable folder, on the host. */
  readonly work: string;
}

/** Where program and folder are below the new root. */
export const innerProgram = (program: string) => `/${basename(program)}`;
export const innerWork = '/work';

const readOnly = 'bind,ro,nosuid,nodev';

/** Makes the mount points. @returns the mounts that fill them */
export async function makePrivateRoot({ folder, program, innerName, libraries, work }: PrivateRoot): Promise<Mount[]> {
  const files = [
    { source: program, inside: innerProgram(innerName ?? program) },
    // A program says where its libraries are: with "..", root would write outside of the folder.
    ...libraries.map((path) => ({ source: path, inside: normalize(path) })),
  ];
  await mkdir(join(folder, innerWork), { recursive: true });
  await mkdir(join(folder, 'dev/pts'), { recursive: true });
  await symlink('pts/ptmx', join(folder, 'dev/ptmx'));
  for (const { inside } of files) {
    await mkdir(dirname(join(folder, inside)), { recursive: true });
    await writeFile(join(folder, inside), '');
  }
  return [
    ...files.map(({ source, inside }) => ({ source, target: join(folder, inside), options: readOnly })),
    { source: work, target: join(folder, innerWork), options: 'bind,nosuid,nodev,noexec' },
    {
      source: 'devpts',
      target: join(folder, 'dev/pts'),
      type: 'devpts',
      options: 'newinstance,ptmxmode=0666,mode=620,nosuid,noexec',
    },
  ];
}

const listLimitMs = 5000;

/** Libraries of a program, and its dynamic linker; none for a static one. @see ldd(1) */
export async function librariesOf(program: string): Promise<string[]> {
  const { code, stdout, stderr, reason } = await runTool('ldd', [program], { timeoutMs: listLimitMs });
  if (/not a dynamic executable|statically linked/.test(`${stdout}${stderr}`)) return [];
  if (code !== 0) throw fault('confinement_failed', { program, reason: `its libraries cannot be listed: ${reason}` });
  // "name => /path (0x…)", or "/path (0x…)" for the linker; the kernel's own has no path.
  return [...stdout.matchAll(/(?:^|=>)\s*(\/\S+) \(0x/gm)].flatMap(([, path]) => path ?? []);
}
