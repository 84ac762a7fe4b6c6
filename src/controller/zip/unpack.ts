/**
 * The content of an archive's entry. Stored and deflated ones are read by the library, those of Zstandard by Node; the two other methods
 * that GNS3's program offers are read by the programs of this system, which may use and reach little. Their numbers, and the header of
 * LZMA data: PKWARE's APPNOTE, 4.4.5, 5.8.
 */
import { spawn } from 'node:child_process';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { writeFilter } from '../../process/tool.ts';
import { couldNotRun, unprivilegedCommand } from '../../process/unprivileged.ts';
import { refuseArchive } from './archive-entries.ts';
import { hasZstd, zstdDecompressor, zstdMethod } from './zstd.ts';

export const stored = 0;
export const deflated = 8;
const bzip2 = 12;
const lzma = 14;
/** Version of the program (2 bytes), length of what follows (2), properties (5). */
const lzmaHeaderBytes = 9;
/** General purpose flag: the data ends with a mark and not after so many bytes. */
const endMarkFlag = 2;
/** The largest dictionary that is unpacked, and room for the program. */
const memoryBytes = 512 * 2 ** 20;
/** Processor time: far less than the slowest of these programs unpacks on a slow machine. */
const leastSeconds = 60;
const bytesPerSecond = 2 ** 20;

/**
 * Unpacks an entry. The stream fails at its end when the content does not match its checksum. @throws archive_invalid for an
 * unknown method
 */
export async function openUnpacked(zip: ZipFile, entry: Entry): Promise<Readable> {
  const source = await openContent(zip, entry);
  return Readable.from(summed(source, entry), { objectMode: false });
}

async function* summed(source: Readable, entry: Entry): AsyncGenerator<Buffer> {
  let sum = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (sum !== entry.crc32) refuseArchive(`"${entry.fileName}" is damaged: its checksum is another one`);
}

async function openContent(zip: ZipFile, entry: Entry): Promise<Readable> {
  const { compressionMethod: method } = entry;
  if (method === stored || method === deflated) return zip.openReadStreamPromise(entry);
  const raw = { decodeFileData: false } as const;
  if (method === zstdMethod && hasZstd)
    return Readable.from(unpackZstd(await zip.openReadStreamPromise(entry, raw), entry), { objectMode: false });
  if (method !== bzip2 && method !== lzma)
    refuseArchive(`"${entry.fileName}" is compressed by a method (${method}) not known here`);
  const packed = await zip.openReadStreamPromise(entry, raw);
  return method === bzip2
    ? through('bzip2', ['-dc'], packed, entry)
    : through('xz', ['-dc', '--format=lzma', '--memlimit-decompress=256MiB'], withFileHeader(packed, entry), entry);
}

async function* unpackZstd(packed: Readable, entry: Entry): AsyncGenerator<Buffer> {
  const unpacker = zstdDecompressor();
  // An error of either destroys the other, and is thrown below.
  pipeline(packed, unpacker).catch(() => undefined);
  try {
    yield* exactly(unpacker, entry);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!/^(?:ZSTD|Z)_/.test(code ?? '')) throw error;
    throw new Error(`"${entry.fileName}" cannot be unpacked: ${message}`, { cause: error });
  } finally {
    unpacker.destroy();
  }
}

/** Passes chunks on. @throws Error for more or fewer bytes than the entry declares */
async function* exactly(source: AsyncIterable<Buffer>, { fileName, uncompressedSize }: Entry): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const chunk of source) {
    sizeBytes += chunk.length;
    if (sizeBytes > uncompressedSize) throw new Error(`"${fileName}" cannot be unpacked: it holds more bytes than it declares`);
    yield chunk;
  }
  if (sizeBytes !== uncompressedSize) throw new Error(`"${fileName}" cannot be unpacked: it holds fewer bytes than it declares`);
}

/** Prefixes the data with the head of a `.lzma` file: properties, then the length, or all ones when a mark ends the data. */
async function* withFileHeader(packed: Readable, entry: Entry): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of packed) {
    if (head === undefined) {
      yield chunk as Buffer;
      continue;
    }
    head = Buffer.concat([head, chunk as Buffer]);
    if (head.length < lzmaHeaderBytes) continue;
    const length = Buffer.alloc(8, 0xff);
    if ((entry.generalPurposeBitFlag & endMarkFlag) === 0) length.writeBigUInt64LE(BigInt(entry.uncompressedSize));
    yield Buffer.concat([head.subarray(4, lzmaHeaderBytes), length, head.subarray(lzmaHeaderBytes)]);
    head = undefined;
  }
}

/** Exactly as many bytes as the entry declares. */
async function through(
  tool: string,
  options: readonly string[],
  packed: AsyncIterable<Buffer> | Readable,
  entry: Entry,
): Promise<Readable> {
  const seconds = leastSeconds + Math.ceil(entry.uncompressedSize / bytesPerSecond);
  const { program, args, filter, env } = await unprivilegedCommand(tool, options, { memoryBytes, seconds });
  const stdio = ['pipe', 'pipe', 'ignore'] as const;
  const child = spawn(program, args, {
    stdio: filter === undefined ? [...stdio] : [...stdio, 'pipe'],
    env,
  });
  writeFilter(child, filter);
  const out = new PassThrough();
  const problem = (reason: string) => new Error(`"${entry.fileName}" cannot be unpacked: ${reason}`);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.once('error', (error) => out.destroy(problem(`${tool}: ${error.message}`)));
  // Errors in the data are reported by the program's exit code.
  pipeline(packed, child.stdin as Writable).catch(() => undefined);
  async function* untilEnd(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    yield* source;
    const code = await ended;
    if (couldNotRun(code)) throw problem(`${tool} is not installed on this server`);
    if (code !== 0) throw problem('its data is damaged');
  }
  const counted = (source: AsyncIterable<Buffer>) => exactly(source, entry);
  pipeline(child.stdout as Readable, untilEnd, counted, out)
    .catch((error: Error) => out.destroy(error))
    .finally(() => child.kill('SIGKILL'));
  return out;
}
