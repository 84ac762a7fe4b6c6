/** Decides whether an image can run on this compute, and what it loads. The image is only read here: it is code of the client who uploaded it. */
import { stat } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import { allows } from '../host/file-access.ts';
import type { RunAs } from '../host/run-as.ts';
import { readElf } from './elf.ts';
import { findLibraries, libraryProblem, linkers } from './libraries.ts';

export interface IouImage {
  readonly path: string;
  /** The dynamic linker and what it loads, absolute paths. */
  readonly libraries: readonly string[];
}

const anyExecute = 0o111;
const readExecute = 0o5;

/** @throws iou_failed with what to do */
export async function checkImage(path: string, runAs: RunAs | undefined): Promise<IouImage> {
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
  const problem = libraryProblem(facts);
  if (problem !== undefined) throw refuse(problem);
  if (interpreter === undefined) return { path, libraries: [] };
  if (!linkers.includes(interpreter)) throw refuse(`it wants the unknown dynamic linker ${interpreter}, not one of glibc`);
  if ((await stat(interpreter).catch(() => undefined)) === undefined) {
    const how = machine === 'i386' ? ': install the 32-bit C library (Debian: apt install libc6-i386)' : '';
    throw refuse(`its dynamic linker ${interpreter} is missing on this compute${how}`);
  }
  const { found, missing } = await findLibraries(facts);
  if (missing.length > 0) throw refuse(`libraries are missing on this compute: ${missing.join(', ')} (${machine})`);
  return { path, libraries: [interpreter, ...found] };
}
