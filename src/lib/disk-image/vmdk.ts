/**
 * Reads headers of VMDK files with their own data (monolithicSparse, streamOptimized). Parents and extents in other files are
 * refused.
 */
import { type DiskImage, DiskImageError, ForeignReferenceError, type ReadAt } from './image.ts';

/** Where QEMU looks for a parent, regardless of the header's position of the descriptor. */
const descriptorAt = 512;
const descriptorBytes = 20 * 512;
const largestDescriptor = 2 ** 20;

/** @throws DiskImageError */
export async function readVmdk(head: Buffer, read: ReadAt): Promise<DiskImage> {
  if (head.length < 64) throw new DiskImageError('its header is cut off');
  // A file without a capacity of its own is only a descriptor, whose extents are other files.
  if (head.readBigUInt64LE(12) === 0n)
    throw new ForeignReferenceError(
      'it is a VMDK descriptor, which names its data in other files: convert it (qemu-img convert -O qcow2), which makes one file of it',
    );
  const texts = [await read(descriptorAt, descriptorBytes)];
  const own = Number(head.readBigUInt64LE(28)) * 512;
  const length = Number(head.readBigUInt64LE(36)) * 512;
  if (length > largestDescriptor) throw new DiskImageError('its descriptor is too long');
  if (own > 0 && length > 0 && Number.isSafeInteger(own)) texts.push(await read(own, length));
  if (texts.some((text) => text.includes('parentFileNameHint'))) {
    throw new ForeignReferenceError('it is the difference to another file: convert it (qemu-img convert -O qcow2)');
  }
  return { format: 'vmdk' };
}
