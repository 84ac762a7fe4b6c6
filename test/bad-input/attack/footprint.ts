/** Resources of a server: file descriptors of its processes, sockets and temporary files, compared before and after an attack. */
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { processesOf } from '../../support/leftovers.ts';
import type { RunningServer } from '../../support/server.ts';

export interface Footprint {
  /** Kind or path to count, of the server and of its fabric. */
  readonly descriptors: ReadonlyMap<string, number>;
  /** Paths of sockets, of the server's own temporary names, and of all in the folder for temporary files. */
  readonly files: ReadonlySet<string>;
}

/** Temporary names of files and folders. Names that a client gives may begin with a dot, too. */
const staged = /^\.patchbay-|^\.project-files\.|\.tmp$/;

export async function footprintOf(server: RunningServer, temporary: string): Promise<Footprint> {
  const fabrics = processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) =>
    /fabric\/main\./.test(commandLine),
  );
  const descriptors = new Map<string, number>();
  for (const [what, pid] of [['server', server.pid] as const, ...fabrics.map(({ pid }) => ['fabric', pid] as const)]) {
    for (const link of await openFiles(pid)) {
      const key = `${what} ${link.replace(/:?\[.*/, '')}`;
      descriptors.set(key, (descriptors.get(key) ?? 0) + 1);
    }
  }
  return { descriptors, files: new Set(await filesOf(server, temporary)) };
}

/** Resources of the second beyond those of the first. */
export function leaksOf(before: Footprint, after: Footprint): string[] {
  const more = [...after.descriptors].filter(([key, count]) => count > (before.descriptors.get(key) ?? 0));
  return [
    ...more.map(([key, count]) => `open: ${key}: ${count}, ${before.descriptors.get(key) ?? 0} before`),
    ...[...after.files].filter((file) => !before.files.has(file)).map((file) => `file: ${file}`),
  ];
}

async function openFiles(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return links.filter((link) => link !== '');
}

async function filesOf(server: RunningServer, temporary: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of [server.dataDir, server.runtimeDirectory, temporary]) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []))
      if (folder === temporary || entry.isSocket() || staged.test(entry.name)) found.push(join(entry.parentPath, entry.name));
  }
  return found;
}
