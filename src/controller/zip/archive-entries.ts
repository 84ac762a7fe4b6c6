/**
 * The entries of an archive, checked before anything is written: names, links, sizes. Archives come from any source.
 *
 * A bomb is recognised by its declared sizes (`yauzl` refuses entries that hold more than they declare): disks of zeros compress by
 * a factor of hundreds, so small archives may grow to a gibibyte and larger ones by `largestRatio`.
 */
import type { Entry, ZipFile } from 'yauzl';
import { fault } from '../../api/faults.ts';
import { Turns } from '../../lib/turns.ts';

type EntryKind = 'file' | 'folder' | 'link';
export interface ArchiveEntry {
  readonly entry: Entry;
  /** Relative, parts joined by `/`, no `.` or `..` among them. */
  readonly path: string;
  readonly kind: EntryKind;
  /** Unix permission bits. */
  readonly mode: number;
}

const mostEntries = 200_000;
const smallTotalBytes = 1024 ** 3;
const largestRatio = 200;
const longestLink = 4096;
const maxPathBytes = 3000;
const maxPartBytes = 255;

/** @throws archive_invalid */
export function refuseArchive(reason: string, cause?: unknown): never {
  throw fault('archive_invalid', { reason }, { cause });
}

/** Every entry once. @throws archive_invalid */
export async function listEntries(zip: ZipFile, archiveBytes: number): Promise<ArchiveEntry[]> {
  if (zip.entryCount > mostEntries) refuseArchive(`it has ${zip.entryCount} entries, more than ${mostEntries}`);
  const entries = new Map<string, ArchiveEntry>();
  const folders = new Set<string>();
  const turns = new Turns();
  let totalBytes = 0;
  for await (const entry of zip.eachEntry()) {
    if (turns.isOver) await turns.next();
    const checked = checkEntry(entry);
    totalBytes += entry.uncompressedSize;
    if (totalBytes > Math.max(smallTotalBytes, archiveBytes * largestRatio))
      refuseArchive(`it would grow to more than ${largestRatio} times its size`);
    // GNS3 writes one entry for each project file it finds; the last one is the one that it reads itself.
    if (entries.has(checked.path) && checked.path !== projectEntry) refuseArchive(`"${checked.path}" is in it twice`);
    entries.set(checked.path, checked);
    for (let end = checked.path.lastIndexOf('/'); end > 0; end = checked.path.lastIndexOf('/', end - 1))
      folders.add(checked.path.slice(0, end));
    // Each is made, takes a block of the disk, and has no size in the archive.
    if (folders.size > mostEntries) refuseArchive(`its entries lie in more than ${mostEntries} folders`);
  }
  for (const folder of folders) {
    const there = entries.get(folder);
    if (there && there.kind !== 'folder') refuseArchive(`"${folder}" is a ${there.kind} and a folder in it`);
  }
  return [...entries.values()];
}

/** A project file larger than this is not one; those of 10,000 nodes have a tenth of it. */
export const largestProjectFile = 64 * 1024 ** 2;

/** Stands in every archive: the project file. */
export const projectEntry = 'project.gns3';

function checkEntry(entry: Entry): ArchiveEntry {
  const { fileName } = entry;
  const shown = fileName.slice(0, 200);
  if (fileName.length > maxPathBytes) refuseArchive(`the name "${shown}" is not usable`);
  const path = fileName.replace(/\/+$/, '');
  const parts = path.split('/');
  if (/[\0\\]/.test(fileName) || fileName.startsWith('/') || /^[a-zA-Z]:/.test(fileName) || parts.includes('..'))
    refuseArchive(`the name "${shown}" points outside the project`);
  if (parts.some((part) => part === '' || part === '.' || Buffer.byteLength(part) > maxPartBytes))
    refuseArchive(`the name "${shown}" is not usable`);
  if (entry.isEncrypted()) refuseArchive(`"${shown}" is encrypted`);
  const { kind, mode } = kindOf(entry, fileName, shown);
  if (kind !== 'folder' && isFolderOfProject(path)) refuseArchive(`"${shown}" is the name of a folder of projects`);
  if (path === projectEntry && entry.uncompressedSize > largestProjectFile)
    refuseArchive(`its project file has more than ${largestProjectFile} bytes`);
  if (kind === 'link' && entry.uncompressedSize > longestLink) refuseArchive(`the link "${shown}" is too long`);
  return { entry, path, kind, mode };
}

/** A file or a link of such a name would be in the way of what the server keeps there. */
function isFolderOfProject(path: string): boolean {
  return /^(?:snapshots|images|tmp|project-files(?:\/[^/]+)?|\.deleted-nodes|\.memory|\.kept-presents|\.patchbay-[^/]*)$/.test(
    path,
  );
}

/** The upper half of the attributes is the Unix mode; programs that know none leave it 0. */
function kindOf(entry: Entry, fileName: string, shown: string): { kind: EntryKind; mode: number } {
  const unix = entry.externalFileAttributes >>> 16;
  const mode = unix & 0o777;
  const type = unix & 0o170000;
  if (fileName.endsWith('/')) return { kind: 'folder', mode: 0o755 };
  if (type === 0o120000) return { kind: 'link', mode };
  if (type === 0o040000) return { kind: 'folder', mode: 0o755 };
  if (type !== 0 && type !== 0o100000) refuseArchive(`"${shown}" is neither a file nor a folder nor a link`);
  return { kind: 'file', mode: mode === 0 ? 0o644 : mode | 0o600 };
}
