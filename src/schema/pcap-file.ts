/** The capture file format that everything reads: classic pcap, little-endian. Source: `pcap.ts`. */
import { fileHeaderBytes, formatVersion, microsecondMagic, nanosecondMagic, recordHeaderBytes, snapLength } from './pcap.ts';

export interface PcapKind {
  /** As numbered by tcpdump.org. */
  readonly linkType: number;
  /** Time stamps in nanoseconds instead of microseconds. */
  readonly nanoseconds: boolean;
}

export function fileHeader({ linkType, nanoseconds }: PcapKind): Buffer {
  const header = Buffer.alloc(fileHeaderBytes);
  header.writeUInt32LE(nanoseconds ? nanosecondMagic : microsecondMagic, 0);
  header.writeUInt16LE(formatVersion.major, 4);
  header.writeUInt16LE(formatVersion.minor, 6);
  header.writeUInt32LE(snapLength, 16);
  header.writeUInt32LE(linkType, 20);
  return header;
}

/** Reads up to `length` bytes at `position` of a file. */
export type ReadInto = (buffer: Buffer, length: number, position: number) => Promise<number>;

/**
 * Where the last complete record of a file of `size` bytes ends: the rest was torn when its writer died. Undefined when it is no
 * file of this kind, or not of records as we write them.
 */
export async function findEnd(read: ReadInto, size: number, kind: PcapKind): Promise<number | undefined> {
  const wanted = fileHeader(kind);
  const header = Buffer.alloc(fileHeaderBytes);
  if ((await read(header, fileHeaderBytes, 0)) < fileHeaderBytes || !header.equals(wanted)) return undefined;
  const chunk = Buffer.allocUnsafe(1024 * 1024);
  let end = fileHeaderBytes;
  while (end + recordHeaderBytes <= size) {
    const count = await read(chunk, chunk.length, end);
    let at = 0;
    while (at + recordHeaderBytes <= count) {
      const kept = chunk.readUInt32LE(at + 8);
      if (kept > snapLength) return undefined;
      if (end + at + recordHeaderBytes + kept > size) return end + at;
      at += recordHeaderBytes + kept;
    }
    if (at === 0) break;
    end += at;
  }
  return Math.min(end, size);
}
