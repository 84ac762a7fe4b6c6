/** ZIP archives byte by byte, so that they can be wrong in any way: names, modes, sizes, sums, methods. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface HandEntry {
  readonly name: string;
  readonly content?: string | Uint8Array;
  /** Unix mode with the bits of its type; default a file with 0644. */
  readonly mode?: number;
  /** 0 stored, 8 deflated; for others give `packed`. */
  readonly method?: number;
  readonly packed?: Uint8Array;
  readonly flags?: number;
  /** Size and checksum that the archive claims, when these are not true. */
  readonly claims?: { readonly sizeBytes?: number; readonly crc?: number };
}

export function zipByHand(entries: readonly HandEntry[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { local, record } = pack(entry, offset);
    locals.push(local);
    central.push(record);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

function pack(entry: HandEntry, offset: number): { local: Buffer; record: Buffer } {
  const content = Buffer.from(entry.content ?? '');
  const method = entry.method ?? 0;
  const packed = entry.packed ?? (method === 8 ? deflateRawSync(content) : content);
  const name = Buffer.from(entry.name);
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(20, 0);
  facts.writeUInt16LE((entry.flags ?? 0) | 0x800, 2);
  facts.writeUInt16LE(method, 4);
  facts.writeUInt16LE(0x21, 8);
  facts.writeUInt32LE(entry.claims?.crc ?? crc32(content), 10);
  facts.writeUInt32LE(packed.length, 14);
  facts.writeUInt32LE(entry.claims?.sizeBytes ?? content.length, 18);
  facts.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), facts, name, packed]);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
  tail.writeUInt32LE(offset, 10);
  const record = Buffer.concat([Buffer.from('PK\x01\x02\x1e\x03', 'latin1'), facts, tail, name]);
  return { local, record };
}
