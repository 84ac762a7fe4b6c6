/** Reads regular files safely: a named pipe does not block, a folder or socket is refused, the size is limited. */
import { constants } from 'node:fs';
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
  // O_NONBLOCK keeps a named pipe from blocking a thread of the pool until a process writes to it. Regular files ignore the flag.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (noFollow ? constants.O_NOFOLLOW : 0);
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENXIO') throw new NotAFile(`${path} is a socket, not a file`);
    throw noFollow && error.code === 'ELOOP' ? new NotAFile(`${path} is a symbolic link, not a file`) : error;
  });
  const facts = await file.stat();
  if (facts.isFile()) return { file, sizeBytes: facts.size };
  await file.close();
  throw new NotAFile(`${path} is ${facts.isDirectory() ? 'a folder' : 'a device or a pipe'}, not a file`);
}

/** Reads a whole file, in one step unless its size changes. @throws NotAFile, RangeError for more than `maxBytes`, and errors of the system */
export async function readRegularFile(
  path: string,
  maxBytes = Number.POSITIVE_INFINITY,
  options: OpenOptions = {},
): Promise<Buffer> {
  const { file, sizeBytes } = await openRegular(path, options);
  try {
    if (sizeBytes > maxBytes) throw new RangeError(`${path} has ${sizeBytes} bytes, more than ${maxBytes}`);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(sizeBytes + 1), position: 0 });
    return bytesRead === sizeBytes ? buffer.subarray(0, sizeBytes) : await file.readFile();
  } finally {
    file.close().catch(() => undefined);
  }
}
