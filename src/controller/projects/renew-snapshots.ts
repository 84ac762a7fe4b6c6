/**
 * Snapshots of a copied project get the copy's ids, and so does their index. A snapshot is a folder, or an archive (a ZIP), that holds
 * `project.gns3` and files below `project-files/<kind>/<node id>/`. Archives are rewritten as a stream, never held in memory.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import type { ZipFile as Reader } from 'yauzl';
import { readRegularFile } from '../../lib/regular-file.ts';
import type { FreshIds, NewIdentity } from '../model/fresh-ids.ts';
import { renewProjectFile } from '../model/renew-file.ts';
import { type ArchiveEntry, largestProjectFile, listEntries, projectEntry } from '../zip/archive-entries.ts';
import { openUnpacked } from '../zip/unpack.ts';
import { renameNodeFolders } from './copy-files.ts';

/** Most bytes of `snapshots.conf`: some thousand snapshots. */
const largestIndex = 1024 ** 2;

/** Gives everything in the folder `snapshots/` of a copy its new identity; does nothing when there is none. */
export async function renewSnapshots(folder: string, identity: NewIdentity): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names) {
    if (!/\.gns3(?:snapshot|project)$/.test(name)) continue;
    const path = join(folder, name);
    const facts = await lstat(path);
    if (facts.isDirectory()) await renewFolder(path, identity);
    else if (facts.isFile()) await renewArchive(path, identity);
  }
  if (names.includes('snapshots.conf')) await renewIndex(join(folder, 'snapshots.conf'), identity.projectId);
}

async function renewIndex(path: string, projectId: string): Promise<void> {
  const index = JSON.parse(String(await readRegularFile(path, largestIndex))) as Record<string, unknown>[];
  // Copies are without memory, and made by a user: no schedule deletes them.
  const renewed = index.map(({ checkpoint: _checkpoint, ...snapshot }) => ({
    ...snapshot,
    project_id: projectId,
    snapshot_id: randomUUID(),
  }));
  await writeFile(path, JSON.stringify(renewed, null, 4));
}

async function renewFolder(path: string, identity: NewIdentity): Promise<void> {
  const file = join(path, projectEntry);
  await writeFile(file, await renewProjectFile(await readRegularFile(file, largestProjectFile), identity));
  await renameNodeFolders(join(path, 'project-files'), identity.ids);
}

/** Two passes: the project file first, since it tells which ids there are to be replaced in the names of the others. */
async function renewArchive(path: string, identity: NewIdentity): Promise<void> {
  const { openPromise } = await import('yauzl');
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false, strictFileNames: true });
  try {
    const entries = await listEntries(zip, (await stat(path)).size);
    const renewed = await renewedProjectFile(zip, entries, identity);
    const { ZipFile } = await import('yazl');
    const writer = new ZipFile();
    const written = pipeline(writer.outputStream, createWriteStream(`${path}.tmp`));
    // A write error is thrown where the promise is awaited.
    written.catch(() => undefined);
    for (const { entry, path: name, kind, mode } of entries) {
      const options = { mtime: entry.getLastModDate(), mode: typeBits[kind] | mode, compress: false };
      const target = renewedPath(name, identity.ids);
      if (name === projectEntry) writer.addBuffer(renewed, projectEntry, options);
      else if (kind === 'folder') writer.addEmptyDirectory(target, { mtime: options.mtime, mode: options.mode });
      else {
        const stream = await openUnpacked(zip, entry);
        writer.addReadStream(stream, target, options);
        await finished(stream);
      }
    }
    writer.end();
    await written;
  } catch (error) {
    await rm(`${path}.tmp`, { force: true });
    throw error;
  } finally {
    zip.close();
  }
  await rename(`${path}.tmp`, path);
}

/** Bits of Unix modes that say what an entry is. */
const typeBits = { file: 0o100000, folder: 0o040000, link: 0o120000 } as const;

async function renewedProjectFile(zip: Reader, entries: readonly ArchiveEntry[], identity: NewIdentity): Promise<Buffer> {
  const found = entries.find(({ path }) => path === projectEntry);
  if (!found) throw new Error(`it holds no ${projectEntry}`);
  if (found.entry.uncompressedSize > largestProjectFile) throw new Error(`its ${projectEntry} is too large`);
  return renewProjectFile(await buffer(await openUnpacked(zip, found.entry)), identity);
}

function renewedPath(name: string, ids: FreshIds): string {
  return name
    .split('/')
    .map((part) => ids.find(part) ?? part)
    .join('/');
}
