/** Damaged files of the server's own state: kept under another name for a person to look at, so that the server can do without them. */
import { readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readRegularFile } from './regular-file.ts';
import { addName } from './take-name.ts';

/** Gets in words what was damaged, and where its copy is. */
export type Warn = (message: string) => void;

const asideMark = '.damaged-';

/** Other errors say something of this process or the machine, not of the file. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']);

/** Whether an error of reading a file means that the file cannot be used. */
export function isDamage(error: unknown): boolean {
  return !passing.has((error as NodeJS.ErrnoException).code ?? '');
}

/** Moves a file, or whatever lies in its place, to `<path>.damaged-<time>`, which it returns. */
export async function setAside(path: string): Promise<string> {
  const aside = asideOf(path);
  await rename(path, aside);
  return aside;
}

/** The same while the file keeps its name until it is replaced. */
export async function keepCopy(path: string): Promise<string> {
  const aside = asideOf(path);
  await addName(path, aside);
  return aside;
}

/** A JSON file of ours through `take`, which throws at what it cannot use. Undefined when there is none, or when it was set aside. */
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

/** Copies of a file that were set aside, by this server or an earlier one, and that no person has removed yet. */
export async function findAside(path: string): Promise<string[]> {
  const names = await readdir(dirname(path)).catch((): string[] => []);
  return names.filter((name) => name.startsWith(`${basename(path)}${asideMark}`)).map((name) => join(dirname(path), name));
}

/** `20261122T071804123Z` sorts by time and stands in any file name. */
function asideOf(path: string): string {
  return `${path}${asideMark}${new Date().toISOString().replace(/[-:.]/g, '')}`;
}
