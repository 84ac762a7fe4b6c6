/**
 * Reads what an ELF program needs, without any program of the host: its machine, its dynamic linker, the names of its libraries, and the
 * entries by which it would have other code loaded. Everything is bounded; what contradicts itself is damaged. @see elf(5)
 */
import type { FileHandle } from 'node:fs/promises';
import { openRegular } from '../../lib/regular-file.ts';

export interface ElfFacts {
  readonly machine: 'i386' | 'x86_64';
  /** Path of the dynamic linker; undefined: the file is static, or a library. */
  readonly interpreter: string | undefined;
  /** Entries of DT_NEEDED: names or paths, as they stand in the file. */
  readonly needed: readonly string[];
  /** Names of the entries that are not known to load nothing, in order. */
  readonly foreign: readonly string[];
}

const machines: Readonly<Record<string, ElfFacts['machine']>> = { '1:3': 'i386', '2:62': 'x86_64' };
/** Executable file, and shared object, which a position-independent program is. */
const programTypes = [2, 3];
const segment = { load: 1, dynamic: 2, interpreter: 3 } as const;
const limits = { programHeaders: 256, pathBytes: 4096, dynamicBytes: 65_536, needed: 64, nameBytes: 256 } as const;

const tags = { end: 0, needed: 1, names: 5, namesBytes: 10 } as const;
/** Entries that have no code loaded: addresses, sizes and flags of what is in the file itself. @see elf.h of glibc */
const harmless: readonly (readonly [first: number, last: number])[] = [
  [0, 14],
  [16, 28],
  [30, 37],
  // Tags of prelink(8), checksums, DT_GNU_HASH to DT_GNU_LIBLIST.
  [0x6ffffdf5, 0x6ffffdf8],
  [0x6ffffef5, 0x6ffffef9],
  // DT_VERSYM, DT_RELACOUNT to DT_VERNEEDNUM.
  [0x6ffffff0, 0x6ffffff0],
  [0x6ffffff9, 0x6fffffff],
];
const namesOfTags: Readonly<Record<number, string>> = {
  15: 'DT_RPATH',
  29: 'DT_RUNPATH',
  1879047930: 'DT_CONFIG',
  1879047931: 'DT_DEPAUDIT',
  1879047932: 'DT_AUDIT',
  2147483645: 'DT_AUXILIARY',
  2147483646: 'DT_USED',
  2147483647: 'DT_FILTER',
};

class DamagedElf extends Error {}

/** @returns the facts of the file, or why it cannot be used, for people */
export async function readElf(path: string): Promise<ElfFacts | string> {
  const opened = await openRegular(path).catch((error: Error) => error);
  if (opened instanceof Error) return `it cannot be read: ${opened.message}`;
  const { file } = opened;
  try {
    return await factsOf(file);
  } catch (error) {
    if (error instanceof DamagedElf) return `it is damaged: ${error.message}`;
    return `it cannot be read: ${(error as Error).message}`;
  } finally {
    await file.close();
  }
}

interface ElfSegment {
  readonly type: number;
  readonly offset: bigint;
  readonly address: bigint;
  readonly bytes: bigint;
}

async function factsOf(file: FileHandle): Promise<ElfFacts | string> {
  const header = await readAt(file, 0n, 64);
  if (header.length < 64 || header.toString('latin1', 0, 4) !== '\x7fELF') return 'it is not an ELF program';
  const [bits, order] = [header.readUInt8(4), header.readUInt8(5)];
  if (order !== 1) return 'it is a big-endian ELF program, such as those for Dynamips: it needs one for i386 or x86_64';
  const machine = machines[`${bits}:${header.readUInt16LE(18)}`];
  if (machine === undefined) return 'it is an ELF program for another processor: it needs one for i386 or x86_64';
  if (!programTypes.includes(header.readUInt16LE(16))) return 'it is an ELF file, but no program';
  const isWide = machine === 'x86_64';
  const segments = await readSegments(file, header, isWide);
  const interpreter = await interpreterOf(file, only(segments, segment.interpreter, 'dynamic linkers'));
  const dynamic = only(segments, segment.dynamic, 'dynamic sections');
  if (dynamic === undefined) return { machine, interpreter, needed: [], foreign: [] };
  return { machine, interpreter, ...(await readDynamic(file, { dynamic, segments, isWide })) };
}

async function readSegments(file: FileHandle, header: Buffer, isWide: boolean): Promise<ElfSegment[]> {
  const start = isWide ? header.readBigUInt64LE(32) : BigInt(header.readUInt32LE(28));
  const [size, count] = isWide
    ? [header.readUInt16LE(54), header.readUInt16LE(56)]
    : [header.readUInt16LE(42), header.readUInt16LE(44)];
  if (size !== (isWide ? 56 : 32) || count > limits.programHeaders) throw new DamagedElf('its program headers');
  const table = await readAt(file, start, size * count);
  if (table.length < size * count) throw new DamagedElf('its program headers end early');
  return Array.from({ length: count }, (_, index): ElfSegment => {
    const entry = table.subarray(index * size);
    const word = (wide: number, narrow: number) => (isWide ? entry.readBigUInt64LE(wide) : BigInt(entry.readUInt32LE(narrow)));
    return { type: entry.readUInt32LE(0), offset: word(8, 4), address: word(16, 8), bytes: word(32, 16) };
  });
}

/** The linker and the kernel may choose another one of several. */
function only(segments: readonly ElfSegment[], type: number, what: string): ElfSegment | undefined {
  const [found, ...others] = segments.filter((one) => one.type === type);
  if (others.length > 0) throw new DamagedElf(`it has several ${what}`);
  return found;
}

async function interpreterOf(file: FileHandle, found: ElfSegment | undefined): Promise<string | undefined> {
  if (found === undefined) return undefined;
  if (found.bytes > limits.pathBytes) throw new DamagedElf('the path of its dynamic linker is too long');
  const path = textOf(await readAt(file, found.offset, Number(found.bytes)));
  if (path === undefined || !path.startsWith('/')) throw new DamagedElf('it names no dynamic linker');
  return path;
}

async function readDynamic(
  file: FileHandle,
  { dynamic, segments, isWide }: { dynamic: ElfSegment; segments: readonly ElfSegment[]; isWide: boolean },
): Promise<Pick<ElfFacts, 'needed' | 'foreign'>> {
  if (dynamic.bytes > limits.dynamicBytes) throw new DamagedElf('its dynamic section is too long');
  const table = await readAt(file, dynamic.offset, Number(dynamic.bytes));
  const half = isWide ? 8 : 4;
  const word = (at: number) => (isWide ? table.readBigUInt64LE(at) : BigInt(table.readUInt32LE(at)));
  const offsets: bigint[] = [];
  const foreign: string[] = [];
  let names: bigint | undefined;
  let namesBytes = 0n;
  for (let at = 0; at + 2 * half <= table.length; at += 2 * half) {
    const tag = Number(word(at));
    const value = word(at + half);
    if (tag === tags.end) break;
    if (tag === tags.needed) offsets.push(value);
    else if (tag === tags.names) names = value;
    else if (tag === tags.namesBytes) namesBytes = value;
    else if (!harmless.some(([first, last]) => first <= tag && tag <= last))
      foreign.push(namesOfTags[tag] ?? `0x${tag.toString(16)}`);
  }
  if (offsets.length > limits.needed) throw new DamagedElf(`it needs more than ${limits.needed} libraries`);
  const needed: string[] = [];
  for (const offset of offsets) {
    if (names === undefined || offset >= namesBytes) throw new DamagedElf('a library has no name');
    needed.push(await readName(file, segments, names + offset));
  }
  return { needed, foreign: [...new Set(foreign)] };
}

async function readName(file: FileHandle, segments: readonly ElfSegment[], address: bigint): Promise<string> {
  const holder = segments.find(
    ({ type, address: first, bytes }) => type === segment.load && first <= address && address < first + bytes,
  );
  const at = holder && holder.offset + address - holder.address;
  const name = at === undefined ? undefined : textOf(await readAt(file, at, limits.nameBytes));
  if (name === undefined || name === '') throw new DamagedElf('a library has no name');
  return name;
}

/** The text before the first NUL; undefined without one. */
function textOf(bytes: Buffer): string | undefined {
  const end = bytes.indexOf(0);
  return end < 0 ? undefined : bytes.toString('utf8', 0, end);
}

/** Reads at most so many bytes; fewer where the file ends. */
async function readAt(file: FileHandle, at: bigint, bytes: number): Promise<Buffer> {
  if (at > BigInt(Number.MAX_SAFE_INTEGER)) return Buffer.alloc(0);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, Number(at));
  return buffer.subarray(0, bytesRead);
}
