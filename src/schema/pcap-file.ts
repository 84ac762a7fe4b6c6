/** Reads and writes the classic pcap format, little-endian, which every tool reads. Source: `pcap.ts`. */
import { fileHeaderBytes, formatVersion, microsecondMagic, nanosecondMagic, recordHeaderBytes, snapLength } from './pcap.ts';

interface PcapKind {
  /** Link type number of tcpdump.org. */
  readonly linkType: number;
  /** Timestamps are in nanoseconds instead of microseconds. */
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
type ReadInto = (buffer: Buffer, length: number, position: number) => Promise<number>;

/**
 * Returns where the last complete record of a file of `size` bytes ends: the writer was killed within a later one. Undefined when
 * the file is not of this kind, or its records are not ours.
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
