/** Reads and writes files of a folder by paths from clients: nothing outside the folder, wherever symbolic links lead. */
import { mkdir, realpath, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join, normalize, relative } from 'node:path';
import { Readable } from 'node:stream';
import { checkArrival } from './disk-image/references.ts';
import { isReallyBelow, realExisting } from './inside.ts';
import { isOpenedBelow, openedPath, openFolderBelow } from './open-folder.ts';
import { NotAFile, openRegular } from './regular-file.ts';
import { type WriteOptions, writeStream } from './stream-file.ts';

/** The path is outside the folder. `message` is the reason, to follow "the path is not allowed:". */
class OutsideError extends Error {
  /** The path with non-printable characters replaced. */
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.name = 'OutsideError';
    this.path = path;
  }
}

const outside = "it lies outside the project's folder";

interface FoundFile {
  readonly contentType: string;
  readonly modified: Date;
  readonly sizeBytes: number;
  /** Stream of the bytes that the file had when it was opened. */
  readonly source: Readable;
}

/** Resolves a path in the folder to an absolute one. @throws OutsideError */
export async function pathInside(folder: string, path: string): Promise<string> {
  if (path.includes('\0')) throw new OutsideError(path.replaceAll('\0', '?'), 'it holds a NUL character');
  const file = normalize(join(folder, path));
  if (await isReallyBelow(folder, file)) return file;
  throw new OutsideError(path, outside);
}

/** Opens a file for reading. @throws OutsideError, and errors of the system */
export async function readInside(folder: string, path: string): Promise<FoundFile> {
  const file = await pathInside(folder, path);
  const { file: handle } = await openRegular(file).catch((error: unknown) => {
    throw error instanceof NotAFile ? new Error('it is not a file') : error;
  });
  if (!(await isOpenedBelow(folder, handle).catch(() => false))) {
    await handle.close();
    throw new OutsideError(path, outside);
  }
  const { mtime, size } = await handle.stat();
  if (size === 0) await handle.close();
  const contentType = contentTypes[extname(file).toLowerCase()] ?? 'application/octet-stream';
  const source = size === 0 ? Readable.from([]) : handle.createReadStream({ end: size - 1, highWaterMark: 256 * 1024 });
  return { contentType, modified: mtime, sizeBytes: size, source };
}

interface WriteInside extends WriteOptions {
  /** Returns why a path, relative to the folder, may not be written; undefined when it may. */
  readonly problemOf: (path: string) => string | undefined;
}

/**
 * Writes a file and creates its folders; an upload that breaks off changes nothing. Disk images are checked, because nodes use
 * files of the project.
 * @throws OutsideError, ForeignReferenceError, and errors of the system
 */
export async function writeInside(folder: string, path: string, source: Readable, options: WriteInside): Promise<void> {
  // The client may disconnect before its bytes are read.
  source.on('error', () => undefined);
  const { file, realFolder } = await changeable(folder, path, options);
  const { whileThere = (fn) => fn() } = options;
  const above = await whileThere(async () => {
    await mkdir(folder, { recursive: true });
    return openFolderBelow(await realpath(folder), relative(realFolder, await realExisting(dirname(file))));
  });
  try {
    await writeStream(join(openedPath(above), basename(file)), source, { check: checkArrival, ...options });
  } finally {
    await above.close();
  }
}

/** Removes a file; of a symbolic link, the link itself. @throws OutsideError, and errors of the system, such as for a folder */
export async function removeInside(folder: string, path: string, options: Pick<WriteInside, 'problemOf'>): Promise<void> {
  const { file, realFolder } = await changeable(folder, path, options);
  // A missing folder is not created.
  const way = relative(realFolder, await realpath(dirname(file)));
  const above = await openFolderBelow(realFolder, way);
  try {
    await unlink(join(openedPath(above), basename(file)));
  } finally {
    await above.close();
  }
}

/** Resolves a path that may be written. @throws OutsideError */
async function changeable(folder: string, path: string, { problemOf }: Pick<WriteInside, 'problemOf'>) {
  const file = await pathInside(folder, path);
  // The rules apply to the given path and to the real one.
  const [realFolder, realFile] = await Promise.all([realExisting(folder), realExisting(file)]);
  const problem = problemOf(relative(folder, file)) ?? problemOf(relative(realFolder, realFile));
  if (problem !== undefined) throw new OutsideError(path, problem);
  if (file.endsWith('/')) throw new OutsideError(path, 'it is a folder');
  return { file, realFolder };
}

/** Content types of files that nodes and projects have; other files are application/octet-stream. */
const contentTypes: Readonly<Record<string, string>> = {
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.tar': 'application/x-tar',
  '.txt': 'text/plain',
  '.xml': 'text/xml',
  '.zip': 'application/zip',
};
