/**
 * Folders and files that a user without privileges reaches although a folder above them is closed to it, as `/root` is: in a mount namespace
 * of the program, a folder of mount points covers the closed one, with only the wanted ones in it. Nothing changes on the host.
 */
import { mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isBelow } from '../../../lib/inside.ts';
import { allows } from '../file-access.ts';
import type { RunAs } from '../run-as.ts';
import { type Mount, mountTable } from './mount-table.ts';

interface WantedPath {
  readonly path: string;
  readonly isFolder: boolean;
}

/** Writes the table of mounts and their points to the folder `stage`. @returns its path; undefined when all can be reached without */
export async function openFolders(runAs: RunAs, paths: readonly string[], stage: string): Promise<string | undefined> {
  const closed = new Map<string, WantedPath[]>();
  for (const wanted of await wantedOf(runAs, paths)) {
    const above = await closedAbove(runAs, wanted.path);
    if (above !== undefined) closed.set(above, [...(closed.get(above) ?? []), wanted]);
  }
  if (closed.size === 0) return undefined;
  const mounts: Mount[] = [];
  for (const [index, [above, below]] of [...closed].entries()) {
    const cover = join(stage, `cover${index}`);
    await rm(cover, { recursive: true, force: true });
    mounts.push(...(await makeCover(above, below, cover)));
  }
  const table = join(stage, 'open-folders');
  await writeFile(table, mountTable(mounts), { mode: 0o600 });
  return table;
}

/** `cover` is filled first and put in place last, as it may itself be below the closed folder. */
async function makeCover(above: string, below: readonly WantedPath[], cover: string): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const { path, isFolder } of below) {
    const target = join(cover, relative(above, path));
    await mkdir(isFolder ? target : dirname(target), { recursive: true, mode: 0o755 });
    if (!isFolder) await writeFile(target, '');
    mounts.push({ source: path, target, options: 'bind' });
  }
  return [...mounts, { source: cover, target: above, options: 'rbind' }];
}

/** Those that exist, by their real paths, without what lies in others. A folder that is itself closed to the user is of no use. */
async function wantedOf(runAs: RunAs, paths: readonly string[]): Promise<WantedPath[]> {
  const found = new Map<string, WantedPath>();
  for (const given of paths) {
    const path = await realpath(given).catch(() => undefined);
    const facts = path === undefined ? undefined : await stat(path);
    if (path === undefined || facts === undefined) continue;
    if (!facts.isDirectory() || maySearch(runAs, facts)) found.set(path, { path, isFolder: facts.isDirectory() });
  }
  const folders = [...found.values()].filter(({ isFolder }) => isFolder);
  return [...found.values()].filter(({ path }) => !folders.some((other) => isBelow(other.path, path)));
}

/** Reads the table, then becomes the command. */
const mountAndRun = 'mount --all --fstab "$0" && exec "$@"';

/** The same command where the folders of the table are open. Only root can. */
export function withOpenFolders(
  table: string | undefined,
  { program, args }: { program: string; args: readonly string[] },
): { program: string; args: string[] } {
  if (table === undefined) return { program, args: [...args] };
  return { program: 'unshare', args: ['--mount', '--', 'sh', '-c', mountAndRun, table, program, ...args] };
}

/** The first folder above that the user may not pass through. Access control lists are not looked at: they can only open more. */
async function closedAbove(runAs: RunAs, path: string): Promise<string | undefined> {
  const above: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) above.unshift(folder);
  for (const folder of above) if (!maySearch(runAs, await stat(folder))) return folder;
  return undefined;
}

function maySearch(runAs: RunAs, facts: { uid: number; gid: number; mode: number }): boolean {
  return allows(runAs, facts, 0o1);
}
