/** The startup script of a node: commands that vpcs runs at each start, and where it keeps what its user saves. */
import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';

export const scriptName = 'startup.vpc';
/** A larger one is no script. */
const maxScriptBytes = 1_048_576;

/** The name of the script, once the lines are gone that would run commands on the host; `removed` is how many. */
export async function prepareScript(directory: string): Promise<{ script: string | undefined; removed: number }> {
  const path = join(directory, scriptName);
  const facts = await lstat(path).catch(() => undefined);
  if (!facts?.isFile() || facts.size > maxScriptBytes) return { script: undefined, removed: 0 };
  const text = await readFile(path, 'latin1');
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
