/** The startup script of a node: commands that vpcs runs at each start, and where it keeps what its user saves. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';

export const scriptName = 'startup.vpc';

/** Used when the configs folder has no file of the name that templates give. */
const standardBase = { file: 'vpcs_base_config.txt', text: 'set pcname %h\n' };

export interface ScriptWish {
  readonly startup_script?: unknown;
  readonly base_script_file?: unknown;
}

/** The text a new node begins with; undefined: it has no script. */
export async function firstScript(wish: ScriptWish, configsPath: string): Promise<string | undefined> {
  if (typeof wish.startup_script === 'string') return wish.startup_script;
  if (typeof wish.base_script_file !== 'string') return undefined;
  // A name within the configs folder, whatever path came with it.
  const name = basename(wish.base_script_file);
  return readFile(join(configsPath, name), 'utf8').catch(() => (name === standardBase.file ? standardBase.text : undefined));
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
