/** The startup script of a node: commands that its PC runs at each start, and where it keeps what its user saves. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { NotAFile, readRegularFile } from '../../lib/regular-file.ts';

export const scriptName = 'startup.vpc';
/** A larger one is no script. */
const maxScriptBytes = 1_048_576;

/** The log of the program vpcs, which earlier versions started. */
export const logPath = (directory: string) => join(directory, 'vpcs.log');

/** Undefined when there is none. @throws NotAFile, RangeError, errors of the system */
export async function readScript(directory: string): Promise<string | undefined> {
  const read = readRegularFile(join(directory, scriptName), maxScriptBytes, { noFollow: true });
  const bytes = await read.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return bytes?.toString('utf8');
}

/** Writes the script with the name filled in, unless the folder has one. */
export async function writeScript(directory: string, text: string, name: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const filled = text.replaceAll('%h', () => shellName(name));
  await writeFile(join(directory, scriptName), filled, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** The node has another name: the lines that set the prompt follow, and nothing else does. */
export async function renameScript(directory: string, name: string): Promise<void> {
  const path = join(directory, scriptName);
  const text = await readScript(directory).catch((error: unknown) => {
    if (error instanceof NotAFile || error instanceof RangeError) return undefined;
    throw error;
  });
  if (text === undefined) return;
  const renamed = text.replace(/^set pcname [^\r\n]*/gm, () => `set pcname ${shellName(name)}`);
  if (renamed !== text) await writeFileAtomic(path, renamed);
}

/** A name as it may stand in a command: one line, no backslashes. */
function shellName(name: string): string {
  return name.replace(/\p{Cc}/gu, ' ').replaceAll('\\', '');
}
