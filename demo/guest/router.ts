/**
 * The guest as a router: FRRouting out of Debian's packages (the programs of the container image `patchbay-frr`) in a second archive
 * behind the guest's own. It reads `frr.conf` on its config disk and needs neither a container engine nor root.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureImage } from '../containers/image.ts';
import { frrRecipe } from '../containers/recipes.ts';
import { type CpioEntry, cpio } from './cpio.ts';
import { exists, run } from './debian.ts';
import type { Guest } from './guest.ts';

/** Memory of a router: FRR's programs are in it twice while the kernel unpacks them. */
export const routerRamMiB = 160;

const scriptFile = path.join(import.meta.dirname, 'router-rc');

/** The router's files: from the cache, or made now. @throws Error with the remedy when they cannot be made */
export async function ensureRouter(guest: Guest, log: (line: string) => void = () => {}): Promise<Guest> {
  const archive = await ensureImage(await frrRecipe(), log);
  const script = await readFile(scriptFile);
  const hash = createHash('sha256').update(script).update(archive).update(guest.initrd).digest('hex').slice(0, 8);
  const initrd = path.join(path.dirname(archive), `router-${hash}`);
  if (await exists(initrd)) return { kernel: guest.kernel, initrd };
  const work = `${initrd}.${randomUUID()}`;
  await mkdir(work);
  try {
    const tar = await run('tar', ['-xf', archive, '-C', work]);
    if (tar.code !== 0) throw new Error(`The archive of the routers cannot be unpacked: ${tar.stderr.trim()}`);
    const entries = await entriesOf(path.join(work, 'root'));
    const rc: CpioEntry = { path: 'etc/rc.local', type: 'file', data: script, executable: true };
    const made = path.join(work, 'initrd');
    await writeFile(made, Buffer.concat([await readFile(guest.initrd), cpio([...entries, rc])]));
    await rename(made, initrd);
    log(`Guest: the router is kept in ${initrd}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { kernel: guest.kernel, initrd };
}

/** Folders and regular files: the guest makes the links of its busybox by itself. */
async function entriesOf(root: string): Promise<CpioEntry[]> {
  const entries: CpioEntry[] = [];
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(root, file);
    if (entry.isDirectory()) entries.push({ path: name, type: 'directory' });
    if (!entry.isFile() || name === 'bin/busybox') continue;
    const executable = ((await stat(file)).mode & 0o111) !== 0;
    entries.push({ path: name, type: 'file', data: await readFile(file), executable });
  }
  // A folder precedes what is in it.
  return entries.sort((one, other) => (one.path < other.path ? -1 : 1));
}
