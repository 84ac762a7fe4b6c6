/**
 * Files of the folder `config` of a machine's node: lab files and users put start-up configurations there one by one, and they get onto its
 * config disk. The emulator may write to the node's folder, so that no link in it is followed.
 */
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openedPath, openFolder } from '../../lib/open-folder.ts';

export interface ConfigFile {
  readonly name: string;
  readonly content: Buffer;
  readonly changedMs: number;
}

const folderName = 'config';
/** Size limit of all files together: the capacity of the disk that is made. */
const mostBytes = 15 * 2 ** 20;
const mostFiles = 100;
/** Size limit of the list of file names: clients can write it, and it is parsed. */
const mostNameBytes = 2 ** 16;

/** Regular files directly in the folder; none without it. @throws Error when they are too many or too large */
export async function readConfigFiles(directory: string): Promise<ConfigFile[]> {
  const folder = await openFolder(join(directory, folderName)).catch(() => undefined);
  if (folder === undefined) return [];
  try {
    const names = (await readdir(openedPath(folder))).sort();
    if (names.length > mostFiles) throw new Error(`the folder ${folderName} has more than ${mostFiles} files`);
    const files: ConfigFile[] = [];
    let bytes = 0;
    for (const name of names) {
      const file = await readOne(join(openedPath(folder), name), mostBytes - bytes);
      if (file === undefined) continue;
      bytes += file.content.length;
      files.push({ name, ...file });
    }
    return files;
  } finally {
    await folder.close();
  }
}

/** Names that were stored when files of the folder were used; none where the list cannot be read. */
export async function readConfigNames(path: string): Promise<string[]> {
  const list = await readOne(path, mostNameBytes).catch(() => undefined);
  try {
    const names: unknown = JSON.parse(list?.content.toString() ?? '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string' && isPlain(name)).slice(0, mostFiles) : [];
  } catch {
    return [];
  }
}

function isPlain(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
}

/** Undefined: it is not a regular file, or has another name elsewhere. */
async function readOne(path: string, most: number): Promise<Omit<ConfigFile, 'name'> | undefined> {
  // O_NONBLOCK: a named pipe is not waited for.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.nlink > 1) return undefined;
    if (facts.size > most) throw new Error(`the files of the folder ${folderName} have more than ${mostBytes} bytes`);
    return { content: await file.readFile(), changedMs: facts.mtimeMs };
  } finally {
    await file.close();
  }
}
