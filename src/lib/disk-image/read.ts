/**
 * Reads the header of a disk image: its format, and the files to which it refers. A strict parser of our own, because QEMU would
 * open those files. It reads at most 2 MiB, of most images 16 KiB.
 * @see docs/interop/qcow2.txt of QEMU for qcow2; for the others the layouts of their headers
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type DiskImage, DiskImageError, type ReadAt } from './image.ts';
import { readQcow } from './qcow.ts';
import { readVmdk } from './vmdk.ts';

/** Reads an image's header. @throws DiskImageError, and errors of the system */
export async function readDiskImage(path: string): Promise<DiskImage> {
  // O_NONBLOCK keeps a named pipe from blocking.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new DiskImageError('it is not a file');
    return await readImage((position, length) => readAt(file, position, length));
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** @throws DiskImageError */
export async function readImage(read: ReadAt): Promise<DiskImage> {
  const head = await read(0, headBytes);
  const magic = head.toString('latin1', 0, 4);
  if (magic === 'QFI\xfb') return readQcow(head, read);
  if (magic === 'KDMV') return readVmdk(head, read);
  if (head.length >= 68 && head.readUInt32LE(64) === vdiSignature) return { format: 'vdi' };
  const start = head.toString('latin1');
  if (start.startsWith('conectix')) return { format: 'vpc' };
  if (start.startsWith('vhdxfile')) return { format: 'vhdx' };
  const unused = unusedFormats.find(([pattern]) => pattern.test(start));
  if (unused !== undefined) throw new DiskImageError(`${unused[1]}: convert it (qemu-img convert -O qcow2)`);
  return { format: 'raw' };
}

/** Enough bytes for every magic, and for the fixed part of every header. */
const headBytes = 512;
const vdiSignature = 0xbeda107f;
/** Formats that QEMU supports and Patchbay does not. */
const unusedFormats: readonly [RegExp, string][] = [
  [/^#[ \t]*disk descriptorfile/i, 'it is a VMDK descriptor, which names its data in other files'],
  [/^COWD/, 'VMDK version 3 is not supported'],
  [/^QED\0/, 'the format QED is not supported'],
  [/^WithoutFreeSpace|^WithouFreSpacExt/, 'the format of Parallels is not supported'],
  [/^Bochs Virtual HD Image/, 'the format of Bochs is not supported'],
  [/^#!\/bin\/sh\n#V2\.0 Format\nmodprobe cloop/, 'the format cloop is not supported'],
];
