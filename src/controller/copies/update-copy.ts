/** Updates the copy of a node's files: only blocks that the copy lacks cross the network. */
import { createHash, hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { mapInTurns, Turns } from '../../lib/turns.ts';
import { isOwnInNode } from '../../schema/folders.ts';
import {
  type CopiedFile,
  copyBlockBytes,
  copyEntryBytes,
  copyHashBytes,
  mostCopyBlocks,
  mostCopyRanges,
  type NodeFiles,
} from '../../schema/node-copy.ts';
import type { CopyFacts, CopyFolder, CopyUpdate } from './copy-folder.ts';

/** The compute that the node is on. Nothing that it answers is trusted. */
export interface CopySource {
  list(): Promise<NodeFiles>;
  /** Streams the hashes of the blocks that differ from the version with the sum `known`; `-`: of all blocks. */
  hashes(path: string, known: string): Promise<Readable>;
  /** `ranges`: first and count, as `0-16,40-1`. */
  blocks(path: string, ranges: string): Promise<Readable>;
}

interface CopyDone {
  readonly copiedAt: string;
  /** Bytes that crossed the network, without lists. */
  readonly bytes: number;
}

/** Written between two looks at the room on the disk. */
const checkedBytes = 2 ** 25;
/** Hashes in one turn of the event loop. */
const summedBytes = 2 ** 21;

interface Updating {
  readonly source: CopySource;
  readonly folder: CopyFolder;
  readonly before: CopyFacts | undefined;
  /** Throws where there is no room for so many bytes. */
  readonly requireRoom: (bytes: number) => Promise<void>;
}

/** A failure leaves the copy that was there. @throws what the compute answers, DiskFloorError, and errors of the system */
export async function updateCopy(
  source: CopySource,
  folder: CopyFolder,
  requireRoom: (bytes: number) => Promise<void>,
): Promise<CopyDone> {
  const before = await folder.read();
  const copiedAt = new Date().toISOString();
  const { files } = await source.list();
  requirePlain(files.map(({ path }) => path));
  // An empty host has lost the files: the copy is kept for exactly that.
  if (before && before.files.length > 0 && files.length === 0) return { copiedAt: before.copied_at, bytes: 0 };
  const sums = new Map(before?.files.map((file) => [file.path, file.sum]));
  const changed = files.filter(({ path, sum }) => sums.get(path) !== sum);
  const update = await folder.begin();
  try {
    const bytes = await collect({ source, folder, before, requireRoom }, changed, update);
    await update.complete({ copied_at: copiedAt, files });
    await folder.read();
    return { copiedAt, bytes };
  } catch (error) {
    await update.discard();
    throw error;
  }
}

/** @returns the bytes that were sent */
async function collect(updating: Updating, changed: readonly CopiedFile[], update: CopyUpdate): Promise<number> {
  let bytes = 0;
  // Bytes of blocks that are merged in the end: they take their space a second time where the file had holes.
  let mergedBytes = 0;
  const requireRoom = (more: number) => updating.requireRoom(mergedBytes + more);
  for (const file of changed) {
    const fetched = await planFile({ ...updating, requireRoom }, file);
    mergedBytes += (fetched.file.blocks?.length ?? 0) * copyBlockBytes;
    await update.add(fetched.file, fetched.hashes, async (data) => {
      bytes += await fetched.write(data);
    });
  }
  return bytes;
}

/** Checks the paths of a compute's files, which become paths below the copy. @throws Error */
function requirePlain(paths: readonly string[]): void {
  const seen = new Set<string>();
  const folders = new Set<string>();
  for (const path of paths) {
    const names = path.split('/');
    const isPlain = names.every((name) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0'));
    if (!isPlain || isOwnInNode(names) || seen.has(path)) throw new Error(`the compute lists a file "${path}"`);
    seen.add(path);
    for (let depth = 1; depth < names.length; depth += 1) folders.add(names.slice(0, depth).join('/'));
  }
  for (const path of paths) if (folders.has(path)) throw new Error(`the compute lists "${path}" as a file and as a folder`);
}

async function planFile({ source, folder, before, requireRoom }: Updating, { path, size, sum }: CopiedFile) {
  const had = before?.files.find((file) => file.path === path);
  const old = had ? await folder.hashes(had) : Buffer.alloc(0);
  const known = old.length > 0 && had ? had.sum : '-';
  // The room is checked before memory is taken for the hashes.
  await requireRoom(Math.max(0, size - (had?.size ?? 0)));
  const entries = async (from: string) =>
    atMost(await source.hashes(path, from), copyEntryBytes * Math.ceil(size / copyBlockBytes));
  let hashes = await withEntries(old, await entries(known), size);
  // The list may be of a file that was listed in between.
  if ((await sumOf(hashes, size)) !== sum) hashes = await withEntries(Buffer.alloc(0), await entries('-'), size);
  if ((await sumOf(hashes, size)) !== sum) throw new Error(`the hashes of "${path}" are not those of the file`);
  const count = hashes.length / copyHashBytes;
  const differ: number[] = [];
  const turns = new Turns();
  for (let block = 0; block < count; block += 1) {
    if (!hashAt(hashes, block).equals(hashAt(old, block))) differ.push(block);
    if (turns.isOver) await turns.next();
  }
  const isWhole = old.length === 0 || differ.length * 2 > count;
  const wanted = isWhole ? Array.from({ length: count }, (_, block) => block) : differ;
  await requireRoom(wanted.length * copyBlockBytes * (isWhole ? 1 : 2));
  const blocks = await BlockWriter.make({ path, size, hashes, wanted, isWhole, requireRoom });
  const write = async (data: FileHandle) => {
    if (isWhole) await data.truncate(size);
    for (const file of before?.files ?? []) {
      if (blocks.isComplete) break;
      // Blocks of a small file are looked for only under its own path: many files, each compared with all others, would take long.
      const isWorth = file.path === path || Math.min(file.size, size) >= copyBlockBytes;
      if (isWorth) await blocks.takeFrom(folder.file(file.path), await folder.hashes(file), data);
    }
    return blocks.fetch(source, data);
  };
  return { file: { path, size, sum, ...(!isWhole && { blocks: wanted }) }, hashes, write };
}

interface WantedBlocks extends Pick<CopiedFile, 'path' | 'size'> {
  readonly hashes: Buffer;
  readonly wanted: readonly number[];
  readonly isWhole: boolean;
  readonly requireRoom: (bytes: number) => Promise<void>;
}

/** Writes blocks to where they belong in the data of an update, each as soon as it is found. */
class BlockWriter {
  readonly #file: WantedBlocks;
  /** Places of the missing blocks among the wanted ones, by hash. */
  readonly #missing = new Map<string, number[]>();
  /** Bytes written since there was room the last time. */
  #written = 0;

  private constructor(file: WantedBlocks) {
    this.#file = file;
  }

  static async make(file: WantedBlocks): Promise<BlockWriter> {
    const writer = new BlockWriter(file);
    const turns = new Turns();
    for (const [place, block] of file.wanted.entries()) {
      const key = keyOf(hashAt(file.hashes, block));
      const places = writer.#missing.get(key);
      if (places) places.push(place);
      else writer.#missing.set(key, [place]);
      if (turns.isOver) await turns.next();
    }
    return writer;
  }

  get isComplete(): boolean {
    return this.#missing.size === 0;
  }

  /** Takes blocks from a file of the copy: blocks that only moved, as when an overlay is written anew, do not cross the network. */
  async takeFrom(path: string, hashes: Buffer, data: FileHandle): Promise<void> {
    const file = await open(path, 'r').catch(() => undefined);
    if (!file) return;
    const turns = new Turns();
    try {
      for (let at = 0; at < hashes.length; at += copyHashBytes) {
        if (turns.isOver) await turns.next();
        if (!this.#missing.has(keyOf(hashes.subarray(at, at + copyHashBytes)))) continue;
        const position = (at / copyHashBytes) * copyBlockBytes;
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(copyBlockBytes), 0, copyBlockBytes, position);
        await this.#put(buffer.subarray(0, bytesRead), data);
      }
    } finally {
      await file.close();
    }
  }

  /** @returns the bytes that were sent */
  async fetch(source: CopySource, data: FileHandle): Promise<number> {
    const { wanted, path, size } = this.#file;
    // Blocks are asked for in the order of the file, as they were put in.
    const blocks = await mapInTurns(this.#missing.values(), ([place = 0]) => wanted[place] ?? 0);
    let bytes = 0;
    for (const ranges of rangesOf(blocks)) {
      const lengths = ranges.flatMap(([first, count]) =>
        Array.from({ length: count }, (_, index) => Math.min(copyBlockBytes, size - (first + index) * copyBlockBytes)),
      );
      const stream = await source.blocks(path, ranges.map((range) => range.join('-')).join(','));
      for await (const block of cut(stream, lengths)) {
        await this.#put(block, data);
        bytes += block.length;
      }
    }
    if (this.#missing.size > 0) throw new Error(`the file "${path}" changes while it is copied`);
    return bytes;
  }

  /** Another block than the listed one is dropped: that one stays missing. */
  async #put(block: Buffer, data: FileHandle): Promise<void> {
    const key = keyOf(hash('sha256', block, 'buffer'));
    const places = this.#missing.get(key) ?? [];
    // A new file has holes where it has no data.
    const isHole = this.#file.isWhole && isZero(block);
    for (const place of places) {
      if (isHole) break;
      await data.write(block, 0, block.length, place * copyBlockBytes);
      await this.#wrote(block.length);
    }
    this.#missing.delete(key);
  }

  /** Others write to the same disk. */
  async #wrote(bytes: number): Promise<void> {
    this.#written += bytes;
    if (this.#written < checkedBytes) return;
    this.#written = 0;
    await this.#file.requireRoom(0);
  }
}

/** Requests of limited size. */
function* rangesOf(blocks: readonly number[]): Generator<[number, number][]> {
  let ranges: [number, number][] = [];
  let count = 0;
  for (const block of blocks) {
    const last = ranges.at(-1);
    const isNext = last !== undefined && last[0] + last[1] === block;
    if (count === mostCopyBlocks || (!isNext && ranges.length === mostCopyRanges)) {
      yield ranges;
      ranges = [[block, 1]];
      count = 0;
    } else if (isNext) last[1] += 1;
    else ranges.push([block, 1]);
    count += 1;
  }
  if (count > 0) yield ranges;
}

/** A stream in pieces of these lengths; the last one may be shorter than wanted. */
async function* cut(stream: Readable, lengths: readonly number[]): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  let piece = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    held.push(chunk);
    bytes += chunk.length;
    while (piece < lengths.length && bytes >= (lengths[piece] ?? 0)) {
      const all = Buffer.concat(held);
      const length = lengths[piece] ?? 0;
      yield all.subarray(0, length);
      held = [all.subarray(length)];
      bytes -= length;
      piece += 1;
    }
    // Data after the last piece was not requested.
    if (piece === lengths.length) return;
  }
}

/** @throws Error when there is more */
async function atMost(stream: Readable, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let left = bytes;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    left -= chunk.length;
    if (left < 0) throw new Error('the compute sends more hashes than the file has blocks');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function withEntries(old: Buffer, entries: Buffer, size: number): Promise<Buffer> {
  const hashes = Buffer.alloc(copyHashBytes * Math.ceil(size / copyBlockBytes));
  old.copy(hashes);
  const turns = new Turns();
  for (let at = 0; at + copyEntryBytes <= entries.length; at += copyEntryBytes) {
    const target = entries.readUInt32BE(at) * copyHashBytes;
    if (target < hashes.length) entries.copy(hashes, target, at + 4, at + copyEntryBytes);
    if (turns.isOver) await turns.next();
  }
  return hashes;
}

async function sumOf(hashes: Buffer, size: number): Promise<string> {
  const sum = createHash('sha256');
  for (let at = 0; at < hashes.length; at += summedBytes) {
    sum.update(hashes.subarray(at, at + summedBytes));
    await setImmediate();
  }
  return sum.update(String(size)).digest('hex');
}

const hashAt = (hashes: Buffer, block: number) => hashes.subarray(block * copyHashBytes, (block + 1) * copyHashBytes);
const keyOf = (bytes: Buffer) => bytes.toString('latin1');
const zeros = Buffer.alloc(copyBlockBytes);
const isZero = (block: Buffer) => block.equals(zeros.subarray(0, block.length));
