/**
 * Reads a pcap file as it arrives. Source of the format: draft-ietf-opsawg-pcap, sections 4 and 5. Both byte orders, time stamps in
 * microseconds and nanoseconds.
 */
import {
  fileHeaderBytes,
  formatVersion,
  microsecondMagic,
  nanosecondMagic,
  recordHeaderBytes,
  snapLength,
} from '../../src/schema/pcap.ts';

export interface Packet {
  /** Starts at 1. */
  readonly number: number;
  /** Time of the packet since 1970, with the file's resolution. */
  readonly timeMs: number;
  /** Length on the wire; `bytes` may be shorter. */
  readonly length: number;
  readonly bytes: Uint8Array;
}

/** Links carry no longer packets; a greater length means that this is not a pcap file. */
const longestPacket = 262_144;

export class PcapParser {
  #rest: Uint8Array = new Uint8Array(0);
  #at = 0;
  #count = 0;
  #header: { readonly littleEndian: boolean; readonly fractionsPerMs: number; readonly linkType: number } | undefined;

  /** Link type from the list at tcpdump.org, "Link-layer header types"; undefined until the header is complete. */
  get linkType(): number | undefined {
    return this.#header?.linkType;
  }

  push(chunk: Uint8Array): void {
    const left = this.#rest.subarray(this.#at);
    this.#at = 0;
    if (left.length === 0) {
      this.#rest = chunk;
      return;
    }
    const joined = new Uint8Array(left.length + chunk.length);
    joined.set(left);
    joined.set(chunk, left.length);
    this.#rest = joined;
  }

  /** The next packet; undefined until it is complete. @throws Error when the bytes are not a pcap file */
  next(): Packet | undefined {
    this.#header ??= this.#readHeader();
    const header = this.#header;
    if (!header || this.#rest.length - this.#at < recordHeaderBytes) return undefined;
    const { littleEndian, fractionsPerMs } = header;
    const view = new DataView(this.#rest.buffer, this.#rest.byteOffset + this.#at, recordHeaderBytes);
    const kept = view.getUint32(8, littleEndian);
    if (kept > longestPacket) throw new Error(`A packet of ${kept} bytes: this is not a capture, or it is damaged`);
    const end = this.#at + recordHeaderBytes + kept;
    if (this.#rest.length < end) return undefined;
    const bytes = this.#rest.subarray(this.#at + recordHeaderBytes, end);
    this.#at = end;
    this.#count += 1;
    const timeMs = view.getUint32(0, littleEndian) * 1000 + view.getUint32(4, littleEndian) / fractionsPerMs;
    return { number: this.#count, timeMs, length: view.getUint32(12, littleEndian), bytes };
  }

  #readHeader() {
    if (this.#rest.length < fileHeaderBytes) return undefined;
    const view = new DataView(this.#rest.buffer, this.#rest.byteOffset, fileHeaderBytes);
    for (const littleEndian of [true, false]) {
      const magic = view.getUint32(0, littleEndian);
      if (magic !== microsecondMagic && magic !== nanosecondMagic) continue;
      this.#at = fileHeaderBytes;
      const fractionsPerMs = magic === nanosecondMagic ? 1_000_000 : 1000;
      return { littleEndian, fractionsPerMs, linkType: view.getUint32(20, littleEndian) & 0xffff };
    }
    throw new Error('These bytes do not begin as a pcap file does');
  }
}

/** Writes these packets as a pcap file with microseconds. */
export function pcapFile(packets: readonly Packet[], linkType: number): Blob {
  const header = new DataView(new ArrayBuffer(fileHeaderBytes));
  for (const [at, value] of [
    [0, microsecondMagic],
    [16, snapLength],
    [20, linkType],
  ] as const)
    header.setUint32(at, value, true);
  header.setUint16(4, formatVersion.major, true);
  header.setUint16(6, formatVersion.minor, true);
  const parts: Uint8Array<ArrayBuffer>[] = [new Uint8Array(header.buffer)];
  for (const { timeMs, length, bytes } of packets) {
    const record = new DataView(new ArrayBuffer(recordHeaderBytes));
    const seconds = Math.floor(timeMs / 1000);
    record.setUint32(0, seconds, true);
    // A double represents today's time to a quarter of a microsecond.
    record.setUint32(4, Math.min(999_999, Math.round((timeMs - seconds * 1000) * 1000)), true);
    record.setUint32(8, bytes.length, true);
    record.setUint32(12, length, true);
    parts.push(new Uint8Array(record.buffer), bytes as Uint8Array<ArrayBuffer>);
  }
  return new Blob(parts, { type: 'application/vnd.tcpdump.pcap' });
}
