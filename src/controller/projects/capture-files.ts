/** The capture files of an open project: those in its folder, and those that remote computes keep. */
import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { fileAnswer, fileFault } from '../../api/file-answers.ts';
import { Stream } from '../../api/route.ts';
import { wrongWithBaseName } from '../../lib/base-name.ts';
import { concurrency, forEachBounded } from '../../lib/bounded.ts';
import { pathInside, readInside } from '../../lib/folder-files.ts';
import { NotAFile, openRegular } from '../../lib/regular-file.ts';
import type { CaptureFile } from '../../schema/capture.ts';
import { fileHeaderBytes, microsecondMagic, nanosecondMagic, recordHeaderBytes } from '../../schema/pcap.ts';
import type { LiveProject } from '../live/live-project.ts';

const folderPath = 'project-files/captures';

/**
 * Lists capture files, also after the project was closed; the newest first. A file that only a remote compute has is listed while its link
 * shows it.
 */
export async function listCaptureFiles(live: LiveProject): Promise<CaptureFile[]> {
  const shown = capturesShown(live);
  const folder = await pathInside(live.folder, folderPath);
  const found = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw fileFault(folderPath, error);
  });
  const files = new Map<string, CaptureFile>();
  const regular = found.filter((file) => file.isFile() && file.name.endsWith('.pcap'));
  await forEachBounded(regular, concurrency, async ({ name }) => {
    const facts = await factsOf(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      throw fileFault(`${folderPath}/${name}`, error);
    });
    if (facts) files.set(name, { name, ...facts, ...(shown.get(name) ?? notShown) });
  });
  for (const [name, link] of shown)
    if (!files.has(name)) files.set(name, { name, size: null, modified: null, started: null, ...link });
  return [...files.values()].sort((one, other) => (other.modified ?? '').localeCompare(one.modified ?? ''));
}

/** Undefined: the file was deleted meanwhile, or is none any more. */
async function factsOf(path: string): Promise<Pick<CaptureFile, 'size' | 'modified' | 'started'> | undefined> {
  const opened = await openRegular(path, { noFollow: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error instanceof NotAFile) return undefined;
    throw error;
  });
  if (!opened) return undefined;
  const { file } = opened;
  try {
    const { mtime, size } = await file.stat();
    const head = Buffer.alloc(fileHeaderBytes + recordHeaderBytes);
    const { bytesRead } = await file.read({ buffer: head, position: 0 });
    const first = bytesRead < head.length ? undefined : timeIn(head);
    return { size, modified: mtime.toISOString(), started: first?.toISOString() ?? null };
  } finally {
    await file.close();
  }
}

/** Returns the time of the first frame, to the second; undefined when these are no bytes of a pcap file. */
function timeIn(head: Buffer): Date | undefined {
  const magics: readonly number[] = [microsecondMagic, nanosecondMagic];
  const isLittle = magics.includes(head.readUInt32LE(0));
  if (!isLittle && !magics.includes(head.readUInt32BE(0))) return undefined;
  const seconds = isLittle ? head.readUInt32LE(fileHeaderBytes) : head.readUInt32BE(fileHeaderBytes);
  return new Date(seconds * 1000);
}

/** @throws `capture_file_invalid`, `file_not_found`, and why no compute answers with it */
export async function readCaptureFile(live: LiveProject, name: string): Promise<Stream> {
  const path = pathOf(name);
  try {
    return fileAnswer(await readInside(live.folder, path));
  } catch (cause) {
    return (await readFromComputes(live, path)) ?? Promise.reject(fileFault(path, cause as NodeJS.ErrnoException));
  }
}

/** @throws `capture_file_invalid`, `capture_file_active`, `file_not_found`, `path_forbidden` */
export async function deleteCaptureFile(live: LiveProject, name: string): Promise<void> {
  const path = pathOf(name);
  if (capturesShown(live).get(name)?.capturing) throw fault('capture_file_active', { file: name });
  try {
    await unlink(await pathInside(live.folder, path));
  } catch (cause) {
    throw fileFault(path, cause as NodeJS.ErrnoException);
  }
}

/** @throws `capture_file_invalid` */
function pathOf(name: string): string {
  const reason = wrongWithBaseName(name) ?? (name.endsWith('.pcap') ? undefined : 'it does not end in .pcap');
  if (reason !== undefined) throw fault('capture_file_invalid', { file: name.slice(0, 100), reason });
  return `${folderPath}/${name}`;
}

/** Undefined when no remote compute of the project has it. */
async function readFromComputes(live: LiveProject, path: string): Promise<Stream | undefined> {
  for (const compute of live.usedComputes()) {
    if (compute.isLocal) continue;
    try {
      await live.announceTo(compute);
      const way = `/v2/compute/projects/${live.projectId}/files/${path}`;
      const { body } = await compute.transport.raw('GET', way);
      return new Stream('application/octet-stream', body);
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }
  return undefined;
}

type CapturingLink = Pick<CaptureFile, 'link_id' | 'capturing'>;
const notShown: CapturingLink = { link_id: null, capturing: false };

function capturesShown(live: LiveProject): Map<string, CapturingLink> {
  const shown = new Map<string, CapturingLink>();
  const note = (name: string, link: CapturingLink) => {
    // A capture of another link may have written to a file of this name before.
    if (!shown.get(name)?.capturing) shown.set(name, link);
  };
  for (const { link_id, capture_file_name, capturing } of live.links.list()) {
    for (const other of live.captures.list(link_id)) note(other.capture_file_name, { link_id, capturing: other.capturing });
    if (capture_file_name) note(capture_file_name, { link_id, capturing });
  }
  return shown;
}
