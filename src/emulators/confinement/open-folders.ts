/**
 * Folders that a user without privileges reaches although a folder above them is closed to it, as `/root` is: in a mount namespace of the
 * program, a small empty file system covers the closed folder, with only the wanted ones in it. Nothing changes on the host.
 */
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isBelow } from '../../lib/inside.ts';
import type { RunAs } from '../run-as.ts';
import { type Mount, mountTable } from './mount-table.ts';

/** Writes the table of mounts to the folder `stage`. @returns its path; undefined when every folder can be reached without */
export async function openFolders(runAs: RunAs, folders: readonly string[], stage: string): Promise<string | undefined> {
  const real = await Promise.all([...new Set(folders)].map((folder) => realpath(folder).catch(() => undefined)));
  const present = outermost(real.filter((folder) => folder !== undefined));
  const groups = Map.groupBy(present, (folder) => folder);
  const closed = new Map<string, string[]>();
  for (const folder of groups.keys()) {
    const above = await closedAbove(runAs, folder);
    if (above !== undefined) closed.set(above, [...(closed.get(above) ?? []), folder]);
  }
  if (closed.size === 0) return undefined;
  const mounts: Mount[] = [];
  for (const [above, below] of closed) {
    const cover = join(stage, `cover${mounts.length}`);
    await mkdir(cover, { recursive: true });
    mounts.push(...coverMounts(above, below, cover));
  }
  const table = join(stage, 'open-folders');
  await writeFile(table, mountTable(mounts), { mode: 0o600 });
  return table;
}

/** `cover` is filled first and put in place last, as it may itself be below the closed folder. */
function coverMounts(above: string, below: readonly string[], cover: string): Mount[] {
  return [
    { source: 'tmpfs', target: cover, type: 'tmpfs', options: 'mode=755,size=64k,nosuid,nodev' },
    ...below.map((folder) => ({ source: folder, target: join(cover, relative(above, folder)), options: 'bind,X-mount.mkdir' })),
    { source: cover, target: above, options: 'rbind' },
  ];
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

/** Without those that are below others. */
function outermost(folders: readonly string[]): string[] {
  return folders.filter((folder) => !folders.some((other) => isBelow(other, folder)));
}

/** The first folder above that the user may not pass through. Access control lists are not looked at: they can only open more. */
async function closedAbove({ uid, gid }: RunAs, folder: string): Promise<string | undefined> {
  const above: string[] = [];
  for (let path = dirname(folder); path !== dirname(path); path = dirname(path)) above.unshift(path);
  for (const path of above) {
    const facts = await stat(path);
    const bit = String(facts.uid) === uid ? 0o100 : String(facts.gid) === gid ? 0o010 : 0o001;
    if ((facts.mode & bit) === 0) return path;
  }
  return undefined;
}
