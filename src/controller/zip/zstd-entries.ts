/**
 * Entries compressed by Zstandard in an archive that yazl writes. The library knows stored and deflated entries only: it is given the
 * packed bytes to store, and the method, size and checksum are corrected before the headers are written.
 */
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import type { ReadStreamOptions, ZipFile } from 'yazl';
import { zstdCompressor, zstdMethod } from './zstd.ts';

/** An entry inside the library. */
interface LibraryEntry {
  crc32: number;
  uncompressedSize: number;
  getCompressionMethod(): number;
  /** Called once the content has been written; the central directory follows later. */
  getDataDescriptor(): Buffer;
}

export type GiveSource = (error: Error | null, source: Readable) => void;

export class ZstdEntries {
  readonly #zip: ZipFile;
  readonly #level: number | undefined;
  #prepare: ((entry: LibraryEntry) => void) | undefined;

  constructor(zip: ZipFile, level: number | undefined) {
    this.#zip = zip;
    this.#level = level;
    const { entries } = zip as unknown as { readonly entries: LibraryEntry[] };
    // The library writes the header of an entry as soon as it is in the list.
    entries.push = (...added) => {
      for (const entry of added) this.#prepare?.(entry);
      return Array.prototype.push.apply(entries, added);
    };
  }

  /** Adds an entry that is read when its turn comes, and has exactly `sizeBytes`. */
  add(path: string, { size: sizeBytes, ...options }: Partial<ReadStreamOptions>, open: (give: GiveSource) => void): void {
    const read = { crc: 0, sizeBytes: 0 };
    this.#prepare = (entry) => {
      const describe = entry.getDataDescriptor;
      entry.getCompressionMethod = () => zstdMethod;
      entry.getDataDescriptor = () => {
        entry.crc32 = read.crc;
        entry.uncompressedSize = read.sizeBytes;
        return describe.call(entry);
      };
    };
    async function* counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of source) {
        read.crc = crc32(chunk, read.crc);
        read.sizeBytes += chunk.length;
        yield chunk;
      }
      if (sizeBytes !== undefined && read.sizeBytes !== sizeBytes) throw new Error(`${path} was changed while it was read`);
    }
    try {
      this.#zip.addReadStreamLazy(path, { ...options, compress: false }, (give) =>
        open((error, source) => {
          const packed = new PassThrough();
          give(error, packed);
          if (error) return;
          pipeline(source, counted, zstdCompressor(this.#level), packed).catch((failure: Error) =>
            this.#zip.emit('error', failure),
          );
        }),
      );
    } finally {
      this.#prepare = undefined;
    }
  }
}
