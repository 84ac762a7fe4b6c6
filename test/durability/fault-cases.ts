/** Faults that one file of a data directory can have, and which of these a server can notice. */
import { execFileSync } from 'node:child_process';
import { lstat, mkdir, open, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import type { Chance } from './random.ts';

/** Changes the file at a path; root may read anything, so what cannot be read is another thing of that name. */
export const faults: Readonly<Record<string, (path: string, chance: Chance) => Promise<unknown>>> = {
  flipped: flipBit,
  truncated: async (path, chance) => truncate(path, chance.between(0, Math.max((await lstat(path)).size - 2, 0))),
  emptied: (path) => truncate(path, 0),
  removed: (path) => rm(path),
  folder: (path) => instead(path, () => mkdir(join(path, 'deep'), { recursive: true })),
  pipe: (path) => instead(path, () => execFileSync('mkfifo', [path])),
  loop: (path) => instead(path, () => symlink(path, path)),
  socket: (path) => instead(path, () => makeSocket(path)),
};

async function instead(path: string, make: () => unknown): Promise<void> {
  await rm(path);
  await make();
}

async function flipBit(path: string, chance: Chance): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    if (size === 0) return;
    const at = chance.between(0, size - 1);
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, at);
    byte[0] = (byte[0] ?? 0) ^ (1 << chance.between(0, 7));
    await file.write(byte, 0, 1, at);
  } finally {
    await file.close();
  }
}

/** A socket whose name remains when no process listens any more. */
async function makeSocket(path: string): Promise<void> {
  const short = `/tmp/pb-socket-${process.pid}`;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(short, resolve));
  execFileSync('mv', [short, path]);
  await new Promise((resolve) => server.close(resolve));
}

/** Every file below a folder, relative, in order. Without Node's code cache and without sockets. */
export async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  return files.filter((file) => !/^(?:run\/|state\/code\/|test-config)/.test(file)).sort();
}

/** A file that is gone or empty says nothing; a changed letter in a text without checksum is text. */
const noticedInJson = new Set(['emptied', 'folder', 'pipe', 'loop', 'socket']);
const noticedInJournal = new Set(['folder', 'pipe', 'loop', 'socket']);

/** Whether the server must report the file's name: in its log, or in the response to a request for its content. */
export function isNoticed(file: string, fault: string, sizeBytes: number): boolean {
  if (/^state\/.*\.(?:log|journal)$/.test(file) && !file.endsWith('fabric.log'))
    return noticedInJournal.has(fault) || (fault === 'flipped' && sizeBytes > 0);
  if (/^projects\/[^/]+\/[^/]+\.gns3$/.test(file)) return noticedInJson.has(fault) || fault === 'removed';
  return /^state\/(?:templates|computes)\.json$/.test(file) && noticedInJson.has(fault);
}

/** Parts of the world that may differ when something is wrong with the file. */
export function affected(file: string, ids: { readonly open: string; readonly closed: string }): RegExp {
  const project = file.startsWith(`projects/${ids.open}`)
    ? 'open'
    : file.startsWith(`projects/${ids.closed}`)
      ? 'closed'
      : undefined;
  if (project) return new RegExp(`^${project}\\b`);
  const parts: readonly [RegExp, RegExp][] = [
    // A lost record that a project was closed leaves it open, and its link is captured again.
    [/^state\/projects\.log$/, /^(?:(?:open|closed)\.project|closed\.links)$/],
    [/^state\/(?:captures|capture-names)\.log$/, /^open\.links$/],
    [/^state\/templates\.json$/, /^templates$/],
    [/^state\/computes\.json$/, /^computes$/],
    [/^state\/kept-settings\.log$/, /^license$/],
    [/^images\//, /^images$/],
    [/^symbols\//, /^symbols$/],
    [/^appliances\//, /^appliances$/],
  ];
  return parts.find(([pattern]) => pattern.test(file))?.[1] ?? /^$/;
}

export async function resetFolder(from: string, to: string): Promise<void> {
  execFileSync('rm', ['-rf', to]);
  execFileSync('cp', ['-a', from, to]);
  await writeFile(join(to, 'test-config.ini'), '');
}
