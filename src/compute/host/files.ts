/** Files of a project, as clients list, read and write them. Nothing outside the project's folder, wherever symbolic links lead. */
import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fault } from '../../api/faults.ts';
import { fileAnswer, fileFault } from '../../api/file-answers.ts';
import type { Stream } from '../../api/route.ts';
import { kindFolders, kinds } from '../../emulators/kinds.ts';
import { pathInside, readInside, removeInside, writeInside } from '../../lib/folder-files.ts';
import { isUuid } from '../../schema/common.ts';
import type { NodeFile } from '../../schema/compute-node.ts';
import { diskCopyPrefix, writeProblem } from '../../schema/folders.ts';
import type { NodeType } from '../../schema/node.ts';

export interface FileEntry {
  readonly path: string;
  readonly md5sum: string;
}

/** Every file below the folder with its sum, in order of names. Unreadable files and links that point outside it are omitted. */
export async function listFiles(folder: string): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  for await (const path of walk(folder)) {
    const place = relative(folder, path);
    const md5sum = await sum(folder, place).catch(() => undefined);
    if (md5sum !== undefined) entries.push({ path: place, md5sum });
  }
  return entries.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** Most files of a node that are listed. */
const mostNodeFiles = 10_000;

/**
 * Lists the regular files of a node's folder, in order of names; none without the folder. Hidden files are not listed, as they cannot be
 * read. @throws file_not_found for a type or an id that is none, path_forbidden
 */
export async function listNodeFiles(folder: string, { node_type, node_id }: ListedNode): Promise<NodeFile[]> {
  const kind = Object.hasOwn(kinds, node_type) ? kinds[node_type as NodeType] : undefined;
  if (!kind || !isUuid(node_id)) throw fault('file_not_found', { path: `${node_type}/${node_id}` });
  const place = `project-files/${kind.folder}/${node_id.toLowerCase()}`;
  const below = await pathInside(folder, place).catch((cause) => Promise.reject(fileFault(place, cause)));
  const found: NodeFile[] = [];
  for await (const file of walk(below)) {
    const path = relative(below, file);
    const facts = path.startsWith('.') ? undefined : await lstat(file).catch(() => undefined);
    if (!facts?.isFile()) continue;
    if (found.length === mostNodeFiles) break;
    found.push({ path, size: facts.size, created_at: facts.birthtimeMs, modified_at: facts.mtimeMs });
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

interface ListedNode {
  readonly node_type: string;
  readonly node_id: string;
}

/** @throws path_forbidden, file_not_found */
export async function readProjectFile(folder: string, path: string): Promise<Stream> {
  return fileAnswer(await readInside(folder, path).catch((cause) => Promise.reject(fileFault(path, cause))));
}

interface FilesPlace {
  readonly path: string;
  whileThere<T>(fn: () => Promise<T>): Promise<T>;
}

/** An upload that breaks off changes nothing. @throws path_forbidden, storage_failed, project_not_found */
export function writeProjectFile(project: FilesPlace, path: string, source: Readable): Promise<void> {
  const whileThere: FilesPlace['whileThere'] = (fn) => project.whileThere(fn);
  const problemOf = (place: string) => writeProblem(place, kindFolders);
  return writeInside(project.path, path, source, { whileThere, problemOf }).catch((cause) =>
    Promise.reject(fileFault(path, cause)),
  );
}

/** @throws path_forbidden, file_not_found, project_not_found */
export async function removeProjectFile(project: FilesPlace, path: string): Promise<void> {
  const problemOf = (place: string) => writeProblem(place, kindFolders);
  await project
    .whileThere(() => removeInside(project.path, path, { problemOf }))
    .catch((cause) => Promise.reject(fileFault(path, cause)));
}

/** Links to folders are not followed; memory images of other emulators are not files of the project. */
async function* walk(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(diskCopyPrefix)) continue;
    if (entry.isDirectory()) yield* walk(path);
    else if (!entry.name.endsWith('.ghost') && (entry.isFile() || entry.isSymbolicLink())) yield path;
  }
}

async function sum(folder: string, path: string): Promise<string> {
  const hash = createHash('md5');
  await pipeline((await readInside(folder, path)).source, hash);
  return hash.digest('hex');
}
