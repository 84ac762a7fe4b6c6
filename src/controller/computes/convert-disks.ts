/** Disks of other programs, in the image folder of a compute, become disks of QEMU there. */
import type { RegisteredCompute } from './compute.ts';

/** Time limit of a conversion, equal to the compute's own. Milliseconds. */
const convertTimeoutMs = 6 * 3600_000;

/**
 * Converts disks of the compute's image folder for `use`, which gets the names of the new images. Can take hours. When one fails,
 * or `use` does, the new images are removed: the next request would find them in its way. @throws why the compute refuses a disk,
 * and what `use` throws
 */
export async function withConvertedDisks<T>(
  { transport }: RegisteredCompute,
  disks: readonly string[],
  use: (images: readonly string[]) => Promise<T>,
): Promise<T> {
  const images: string[] = [];
  try {
    for (const source of disks) {
      const { filename } = await transport.call('POST /v2/compute/qemu/convert', { body: { source }, timeoutMs: convertTimeoutMs });
      images.push(filename);
    }
    return await use(images);
  } catch (error) {
    for (const image of images) {
      // Where the compute is gone it stays, and can be deleted like others.
      await transport.raw('DELETE', `/v2/compute/qemu/images/${image}`).catch(() => undefined);
    }
    throw error;
  }
}
