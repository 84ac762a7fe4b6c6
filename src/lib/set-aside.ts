/** Keeps damaged files of the server's state under another name for the administrator, so that the server can run without them. */
import { readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readRegularFile } from './regular-file.ts';
import { addName } from './take-name.ts';

/** Receives a sentence that names the damage and the copy's path. */
export type Warn = (message: string) => void;

const asideMark = '.damaged-';

/** Error codes of a passing shortage in this process or machine, which do not mean that the file is damaged. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']);

/** Whether an error of reading a file means that the file cannot be used. */
export function isDamage(error: unknown): boolean {
  return !passing.has((error as NodeJS.ErrnoException).code ?? '');
}

/** Moves whatever is at a path to `<path>.damaged-<time>`, and returns that path. */
export async function setAside(path: string): Promise<string> {
  const aside = asideOf(path);
  await rename(path, aside);
  return aside;
}

/** Copies a damaged file to `<path>.damaged-<time>`, and returns that path. The file keeps its name until it is replaced. */
export async function keepCopy(path: string): Promise<string> {
  const aside = asideOf(path);
  await addName(path, aside);
  return aside;
}

/**
 * Reads one of the server's JSON files through `take`, which throws for values that it cannot use. Undefined when the file is
 * absent, or was set aside.
 */
export async function readOwnJson<T>(path: string, take: (value: unknown) => T, warn: Warn): Promise<T | undefined> {
  try {
    return take(JSON.parse((await readRegularFile(path)).toString('utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (!isDamage(error)) throw error;
    const aside = await setAside(path);
    warn(`${path} cannot be read (${(error as Error).message}). It was moved to ${aside}, and the server does without it`);
    return undefined;
  }
}

/** Lists the copies of a file that this or an earlier server set aside, unless the administrator removed them. */
export async function findAside(path: string): Promise<string[]> {
  const names = await readdir(dirname(path)).catch((): string[] => []);
  return names.filter((name) => name.startsWith(`${basename(path)}${asideMark}`)).map((name) => join(dirname(path), name));
}

/** Returns the path of the copy. `20261122T071804123Z` sorts by time and is a valid file name. */
function asideOf(path: string): string {
  return `${path}${asideMark}${new Date().toISOString().replace(/[-:.]/g, '')}`;
}
