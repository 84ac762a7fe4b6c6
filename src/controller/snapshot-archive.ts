/**
 * Snapshots of a copied project: their archives and their index get the copy's ids. An archive is a ZIP, stored without compression,
 * that holds `project.gns3` and files below `project-files/<kind>/<node id>/`. It is rewritten as a stream, never held in memory.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { type Entry, openPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { type FreshIds, type NewIdentity, withNewIdentity } from './fresh-ids.ts';

/** A project file larger than this is not one. */
const largestProjectFile = 64 * 1024 * 1024;
const projectFile = 'project.gns3';

/** Gives everything in the folder `snapshots/` of a copy its new identity; does nothing when there is none. */
export async function renewSnapshots(folder: string, identity: NewIdentity): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names) {
    if (/\.gns3(?:snapshot|project)$/.test(name)) await renewArchive(join(folder, name), identity);
  }
  if (names.includes('snapshots.conf')) await renewIndex(join(folder, 'snapshots.conf'), identity.projectId);
}

async function renewIndex(path: string, projectId: string): Promise<void> {
  const index = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>[];
  const renewed = index.map((snapshot) => ({ ...snapshot, project_id: projectId, snapshot_id: randomUUID() }));
  await writeFile(path, JSON.stringify(renewed, null, 4));
}

/** Two passes: the project file first, since it tells which ids there are to be replaced in the names of the others. */
async function renewArchive(path: string, identity: NewIdentity): Promise<void> {
  const renewed = await renewedProjectFile(path, identity);
  const writer = new ZipFile();
  const written = pipeline(writer.outputStream, createWriteStream(`${path}.tmp`));
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      const options = { mtime: entry.getLastModDate(), mode: modeOf(entry), compress: false };
      const name = renewedPath(entry.fileName, identity.ids);
      if (entry.fileName === projectFile) writer.addBuffer(renewed, projectFile, options);
      else if (entry.fileName.endsWith('/')) writer.addEmptyDirectory(name, { mtime: options.mtime, mode: options.mode });
      else {
        const stream = await zip.openReadStreamPromise(entry);
        writer.addReadStream(stream, name, options);
        await finished(stream);
      }
    }
  } finally {
    zip.close();
  }
  writer.end();
  await written;
  await rename(`${path}.tmp`, path);
}

async function renewedProjectFile(path: string, identity: NewIdentity): Promise<Buffer> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== projectFile) continue;
      if (entry.uncompressedSize > largestProjectFile) throw new Error(`${projectFile} in ${path} is too large`);
      const text = (await buffer(await zip.openReadStreamPromise(entry))).toString('utf8');
      const renewed = withNewIdentity(JSON.parse(text) as Record<string, unknown>, identity);
      return Buffer.from(JSON.stringify(renewed, null, 4));
    }
  } finally {
    zip.close();
  }
  throw new Error(`${path} holds no ${projectFile}`);
}

/** The upper half of the attributes is the Unix mode; programs that know none leave it 0. */
function modeOf(entry: Entry): number {
  return (entry.externalFileAttributes >>> 16) & 0xffff || 0o100644;
}

function renewedPath(name: string, ids: FreshIds): string {
  return name
    .split('/')
    .map((part) => ids.find(part) ?? part)
    .join('/');
}
