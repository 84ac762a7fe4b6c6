/** The startup script of a node: commands that vpcs runs at each start, and where it keeps what its user saves. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';

export const scriptName = 'startup.vpc';

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
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return;
  const renamed = text.replace(/^set pcname [^\r\n]*/gm, () => `set pcname ${shellName(name)}`);
  if (renamed !== text) await writeFileAtomic(path, renamed);
}

/** A name as it may stand in a command: one line, no backslashes. */
export function shellName(name: string): string {
  return name.replace(/\p{Cc}/gu, ' ').replaceAll('\\', '');
}
