/** The startup script of a node: commands that vpcs runs at each start, and where it keeps what its user saves. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { NotAFile, readRegularFile } from '../../lib/regular-file.ts';

export const scriptName = 'startup.vpc';
/** A larger one is no script. */
const maxScriptBytes = 1_048_576;

/** The name of the script, once the lines are gone that would run commands on the host; `removed` is how many. */
export async function prepareScript(directory: string): Promise<{ script: string | undefined; removed: number }> {
  const path = join(directory, scriptName);
  const bytes = await readScript(path).catch(() => undefined);
  if (bytes === undefined) return { script: undefined, removed: 0 };
  const text = bytes.toString('latin1');
  const safe = withoutHostCommands(text);
  if (safe.removed > 0) await writeFileAtomic(path, Buffer.from(safe.text, 'latin1'));
  return { script: scriptName, removed: safe.removed };
}

/** `!` is the command of vpcs that runs a command on its host. */
export function withoutHostCommands(text: string): { text: string; removed: number } {
  let removed = 0;
  const kept = text.replace(/^[^\S\r\n]*!.*(?:\r\n|\r|\n|$)/gm, () => {
    removed += 1;
    return '';
  });
  return { text: kept, removed };
}

/** Writes the script with the name filled in, unless the folder has one. */
export async function writeScript(directory: string, text: string, name: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const filled = withoutHostCommands(text.replaceAll('%h', () => shellName(name))).text;
  await writeFile(join(directory, scriptName), filled, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** The node has another name: the lines that set the prompt follow, and nothing else does. */
export async function renameScript(directory: string, name: string): Promise<void> {
  const path = join(directory, scriptName);
  const bytes = await readScript(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error instanceof NotAFile || error instanceof RangeError) return undefined;
    throw error;
  });
  if (bytes === undefined) return;
  const text = bytes.toString('utf8');
  const renamed = text.replace(/^set pcname [^\r\n]*/gm, () => `set pcname ${shellName(name)}`);
  if (renamed !== text) await writeFileAtomic(path, renamed);
}

/** The folder is that of the emulator's user. */
function readScript(path: string): Promise<Buffer> {
  return readRegularFile(path, maxScriptBytes, { noFollow: true });
}

/** A name as it may stand in a command: one line, no backslashes. */
export function shellName(name: string): string {
  return name.replace(/\p{Cc}/gu, ' ').replaceAll('\\', '');
}
