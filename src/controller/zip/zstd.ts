/**
 * Zstandard in archives, by the library of Node. Memory is bounded both ways: what is packed here takes a window of 8 MiB, what is
 * unpacked one of 128 MiB at most. Number of the method: PKWARE's APPNOTE, 4.4.5.
 */
import type { Transform } from 'node:stream';
// Node before 22.15 has no such functions, so they are not imported by name.
import zlib from 'node:zlib';

/** Number of the compression method in archives. */
export const zstdMethod = 93;

/** Higher levels take up to 700 MiB, and gain a few percent. */
const highestLevel = 19;
const standardLevel = 3;
const packedWindowLog = 23;
const unpackedWindowLog = 27;

export const hasZstd = typeof zlib.createZstdCompress === 'function';

/** @param level 1 to 22; above 19 it is 19 */
export function zstdCompressor(level = standardLevel): Transform {
  const { ZSTD_c_compressionLevel, ZSTD_c_windowLog } = zlib.constants;
  const params = { [ZSTD_c_compressionLevel]: Math.min(level, highestLevel), [ZSTD_c_windowLog]: packedWindowLog };
  return zlib.createZstdCompress({ params });
}

/** The stream fails for data that is damaged, cut off, or made for a larger window. */
export function zstdDecompressor(): Transform {
  return zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: unpackedWindowLog } });
}
