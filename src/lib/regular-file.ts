/** Reads regular files safely: a named pipe does not block, a folder or socket is refused, the size is limited. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

export class NotAFile extends Error {
  override readonly name = 'NotAFile';
}

interface OpenOptions {
  /** Refuses a symbolic link, for folders in which another user can create one. */
  readonly noFollow?: boolean;
}

/** Opens a regular file for reading. @throws NotAFile, and errors of the system */
export async function openRegular(
  path: string,
  { noFollow = false }: OpenOptions = {},
): Promise<{ file: FileHandle; sizeBytes: number }> {
  const file = await open(path, noFollow ? readOnly | constants.O_NOFOLLOW : readOnly).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENXIO') throw new NotAFile(`${path} is a socket, not a file`);
    throw noFollow && error.code === 'ELOOP' ? new NotAFile(`${path} is a symbolic link, not a file`) : error;
  });
  const facts = await file.stat();
  if (facts.isFile()) return { file, sizeBytes: facts.size };
  await file.close();
  throw noFile(path, facts);
}

/** O_NONBLOCK keeps a named pipe from blocking a thread of the pool until a process writes to it. Regular files ignore the flag. */
const readOnly = constants.O_RDONLY | constants.O_NONBLOCK;
const noFile = (path: string, facts: Stats) =>
  new NotAFile(`${path} is ${facts.isDirectory() ? 'a folder' : 'a device or a pipe'}, not a file`);
const tooLarge = (path: string, sizeBytes: number, maxBytes: number) =>
  new RangeError(`${path} has ${sizeBytes} bytes, more than ${maxBytes}`);

/** Reads a whole file, in one step unless its size changes. @throws NotAFile, RangeError for more than `maxBytes`, and errors of the system */
export async function readRegularFile(
  path: string,
  maxBytes = Number.POSITIVE_INFINITY,
  options: OpenOptions = {},
): Promise<Buffer> {
  const { file, sizeBytes } = await openRegular(path, options);
  try {
    if (sizeBytes > maxBytes) throw tooLarge(path, sizeBytes, maxBytes);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(sizeBytes + 1), position: 0 });
    return bytesRead === sizeBytes ? buffer.subarray(0, sizeBytes) : await file.readFile();
  } finally {
    file.close().catch(() => undefined);
  }
}

/**
 * Reads a whole file while the caller waits, for threads: one that is terminated while the close of a file waits for a thread of the pool
 * leaves the file open. @throws as `readRegularFile`
 */
export function readRegularFileSync(path: string, maxBytes: number): Buffer {
  const file = openSync(path, readOnly);
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw noFile(path, facts);
    if (facts.size > maxBytes) throw tooLarge(path, facts.size, maxBytes);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
