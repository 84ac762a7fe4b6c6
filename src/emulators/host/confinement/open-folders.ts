/**
 * Folders and files that a user without privileges reaches although a folder above them is closed to it, as `/root` is: in a mount namespace
 * of the program, a folder of mount points covers the closed one, with only the wanted ones in it. Nothing changes on the host.
 */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isBelow } from '../../../lib/inside.ts';
import { allows } from '../file-access.ts';
import type { RunAs } from '../run-as.ts';
import { type Mount, mountTable } from './mount-table.ts';
import { quoteWord, quoteWords } from './shell-text.ts';

interface WantedPath {
  readonly path: string;
  readonly isFolder: boolean;
}

/** In the server's runtime folder, which only root may change; empty outside of the namespaces. */
const stageName = 'mounts';

/**
 * Nothing of it is kept in files: in a folder of the user of emulators, another program of that user could replace the table that root mounts
 * by, or lead a mount point elsewhere. @returns the commands of sh(1) that make the mounts; undefined when all can be reached without
 */
export async function openFolders(runAs: RunAs, paths: readonly string[], runDirectory: string): Promise<string | undefined> {
  const closed = new Map<string, WantedPath[]>();
  for (const wanted of await wantedOf(runAs, paths)) {
    const above = await closedAbove(runAs, wanted.path);
    if (above !== undefined) closed.set(above, [...(closed.get(above) ?? []), wanted]);
  }
  if (closed.size === 0) return undefined;
  const stage = join(runDirectory, stageName);
  await mkdir(stage, { recursive: true, mode: 0o700 });
  // Once the folder that holds the stage is covered, the other covers cannot be found any more.
  const hidesStage = (above: string) => Number(isBelow(above, stage));
  const ordered = [...closed].toSorted(([one], [other]) => hidesStage(one) - hidesStage(other));
  const covers = ordered.map(([above, below], index) => coverOf(above, below, join(stage, `cover${index}`)));
  const [folders, files] = [covers.flatMap((cover) => cover.folders), covers.flatMap((cover) => cover.files)];
  const table = join(stage, 'table');
  return [
    `mount -t tmpfs -o mode=0755,nosuid,nodev tmpfs ${quoteWord(stage)}`,
    `mkdir -p -m 0755 -- ${quoteWords([...folders, ...files.map((file) => dirname(file))])}`,
    ...(files.length > 0 ? [`touch -- ${quoteWords(files)}`] : []),
    `printf %s ${quoteWord(mountTable(covers.flatMap(({ mounts }) => mounts)))} > ${quoteWord(table)}`,
    `mount --all --fstab ${quoteWord(table)}`,
  ].join(' && ');
}

interface Cover {
  readonly mounts: readonly Mount[];
  /** Its mount points. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/** `cover` is filled first and put in place last, as it may itself be below the closed folder. */
function coverOf(above: string, below: readonly WantedPath[], cover: string): Cover {
  const points = below.map(({ path, isFolder }) => ({ path, isFolder, target: join(cover, relative(above, path)) }));
  const binds = points.map(({ path, target }): Mount => ({ source: path, target, options: 'bind' }));
  return {
    mounts: [...binds, { source: cover, target: above, options: 'rbind' }],
    folders: [cover, ...points.flatMap(({ isFolder, target }) => (isFolder ? [target] : []))],
    files: points.flatMap(({ isFolder, target }) => (isFolder ? [] : [target])),
  };
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

/** The same command where the folders are open: the shell makes the mounts, then becomes the command. Only root can. */
export function withOpenFolders(
  mounts: string | undefined,
  { program, args }: { program: string; args: readonly string[] },
): { program: string; args: string[] } {
  if (mounts === undefined) return { program, args: [...args] };
  return { program: 'unshare', args: ['--mount', '--', 'sh', '-c', `${mounts} && exec "$@"`, 'sh', program, ...args] };
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
