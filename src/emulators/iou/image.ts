/** Whether an image can run on this compute, and what it loads. */
import { stat } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import { runTool } from '../../process/tool.ts';
import { openFolders, withOpenFolders } from '../host/confinement/open-folders.ts';
import { allows } from '../host/file-access.ts';
import { commandAs, type RunAs } from '../host/run-as.ts';
import { readElf } from './elf.ts';

export interface IouImage {
  readonly path: string;
  /** The dynamic linker and what it loads, absolute paths. */
  readonly libraries: readonly string[];
}

const listLimitMs = 10_000;
/**
 * The dynamic linkers of glibc, and their names in the Linux Standard Base. The server runs the one that the image names, outside of the
 * image's namespaces: it must be none that a client has uploaded.
 */
const linkers = ['/lib/ld-linux.so.2', '/lib64/ld-linux-x86-64.so.2', '/lib/ld-lsb.so.3', '/lib64/ld-lsb-x86-64.so.3'];
const anyExecute = 0o111;
const readExecute = 0o5;

/** @throws iou_failed with what to do */
export async function checkImage(path: string, runAs: RunAs | undefined, runDirectory: string): Promise<IouImage> {
  const refuse = (reason: string) => fault('iou_failed', { reason: `The IOU image ${path} cannot run: ${reason}` });
  const facts = await readElf(path);
  if (typeof facts === 'string') throw refuse(facts);
  if (process.arch !== 'x64' && process.arch !== 'ia32')
    throw refuse(`it is for ${facts.machine}, and this compute is ${process.arch}`);
  const file = await stat(path);
  if ((file.mode & anyExecute) === 0) throw refuse(`it is not executable: chmod +x ${path}`);
  if (runAs && !allows(runAs, file, readExecute))
    throw refuse(`the user ${runAs.user}, which emulators run as, may not read and execute it: chmod a+rx ${path}`);
  const { interpreter, machine } = facts;
  if (interpreter === undefined) return { path, libraries: [] };
  if (!linkers.includes(interpreter)) throw refuse(`it wants the unknown dynamic linker ${interpreter}, not one of glibc`);
  if ((await stat(interpreter).catch(() => undefined)) === undefined) {
    const how = machine === 'i386' ? ': install the 32-bit C library (Debian: apt install libc6-i386)' : '';
    throw refuse(`its dynamic linker ${interpreter} is missing on this compute${how}`);
  }
  const libraries = await listLibraries(path, { interpreter, runAs, runDirectory });
  const missing = [...libraries.matchAll(/^\s*(\S+) => not found$/gm)].map(([, name]) => name);
  if (missing.length > 0) throw refuse(`libraries are missing on this compute: ${missing.join(', ')} (${machine})`);
  const found = [...libraries.matchAll(/(?:^|=>)\s*(\/\S+) \(0x/gm)].flatMap(([, library]) => library ?? []);
  return { path, libraries: await onlyElf([interpreter, ...found]) };
}

/** The names in the listing are the image's: one that is no library is not shown to it. */
async function onlyElf(paths: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  for (const path of new Set(paths)) if (typeof (await readElf(path)) !== 'string') kept.push(path);
  return kept;
}

interface Listing {
  readonly interpreter: string;
  readonly runAs: RunAs | undefined;
  readonly runDirectory: string;
}

/** What ldd prints, by the image's own dynamic linker: `ldd` knows only those of this system. The image itself is not run. @see ld.so(8) */
async function listLibraries(path: string, { interpreter, runAs, runDirectory }: Listing): Promise<string> {
  const table = runAs && (await openFolders(runAs, [path], runDirectory));
  const { program, args } = withOpenFolders(table, commandAs(runAs, interpreter, ['--list', path]));
  const { code, stdout, reason } = await runTool(program, args, { timeoutMs: listLimitMs });
  if (code === 0 || stdout.includes('not found')) return stdout;
  throw fault('iou_failed', { reason: `The IOU image ${path} cannot run: its libraries cannot be listed: ${reason}` });
}
