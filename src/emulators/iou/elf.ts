/** The first facts of an ELF file: for which machine it is, and which dynamic linker it wants. @see elf(5) */
import type { FileHandle } from 'node:fs/promises';
import { openRegular } from '../../lib/regular-file.ts';

export interface ElfFacts {
  readonly machine: 'i386' | 'x86_64';
  /** Path of the dynamic linker; undefined: the file is static. */
  readonly interpreter: string | undefined;
}

const identBytes = 16;
const machines: Readonly<Record<string, ElfFacts['machine']>> = { '1:3': 'i386', '2:62': 'x86_64' };
/** Executable file, and shared object, which a position-independent program is. */
const programTypes = [2, 3];
const interpreterType = 3;
const maxProgramHeaders = 256;
const maxPathBytes = 4096;

/** What is wrong with the file, for people, or its facts. */
export async function readElf(path: string): Promise<ElfFacts | string> {
  const opened = await openRegular(path).catch((error: Error) => error);
  if (opened instanceof Error) return `it cannot be read: ${opened.message}`;
  const { file } = opened;
  try {
    return await factsOf(file);
  } finally {
    await file.close();
  }
}

async function factsOf(file: FileHandle): Promise<ElfFacts | string> {
  const header = await readAt(file, 0, 64);
  if (header.length < 64 || header.toString('latin1', 0, 4) !== '\x7fELF') return 'it is not an ELF program';
  const [bits, order] = [header.readUInt8(4), header.readUInt8(5)];
  if (order !== 1) return 'it is a big-endian ELF program, such as those for Dynamips: it needs one for i386 or x86_64';
  const machine = machines[`${bits}:${header.readUInt16LE(identBytes + 2)}`];
  if (machine === undefined) return 'it is an ELF program for another processor: it needs one for i386 or x86_64';
  if (!programTypes.includes(header.readUInt16LE(identBytes))) return 'it is an ELF file, but no program';
  const wide = machine === 'x86_64';
  const at = wide ? Number(header.readBigUInt64LE(32)) : header.readUInt32LE(28);
  const [size, count] = wide
    ? [header.readUInt16LE(54), header.readUInt16LE(56)]
    : [header.readUInt16LE(42), header.readUInt16LE(44)];
  if (size < (wide ? 56 : 32) || count > maxProgramHeaders) return 'its ELF header is damaged';
  const table = await readAt(file, at, size * count);
  for (let entry = 0; entry + size <= table.length; entry += size) {
    if (table.readUInt32LE(entry) !== interpreterType) continue;
    const offset = wide ? Number(table.readBigUInt64LE(entry + 8)) : table.readUInt32LE(entry + 4);
    const length = wide ? Number(table.readBigUInt64LE(entry + 32)) : table.readUInt32LE(entry + 16);
    const text = (await readAt(file, offset, Math.min(length, maxPathBytes))).toString('utf8');
    const interpreter = text.split('\0')[0] ?? '';
    return interpreter.startsWith('/') ? { machine, interpreter } : 'its ELF header names no dynamic linker';
  }
  return { machine, interpreter: undefined };
}

/** What the file has of these bytes. */
async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  if (!Number.isSafeInteger(at) || at < 0) return Buffer.alloc(0);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
  return buffer.subarray(0, bytesRead);
}
