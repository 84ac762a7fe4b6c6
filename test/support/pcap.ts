/** Reads classic pcap, as tests want to see it; anything that is not whole is an error. */
import assert from 'node:assert/strict';

export interface PcapFrame {
  /** Seconds since 1970. */
  readonly time: number;
  /** Length on the link. */
  readonly length: number;
  readonly data: Buffer;
}

export interface Pcap {
  readonly magic: number;
  readonly version: string;
  readonly snapLength: number;
  readonly linkType: number;
  readonly frames: PcapFrame[];
}

export function parsePcap(bytes: Buffer): Pcap {
  assert.ok(bytes.length >= 24, `${bytes.length} bytes are no pcap header`);
  const magic = bytes.readUInt32LE(0);
  const perSecond = magic === 0xa1b23c4d ? 1e9 : 1e6;
  const frames: PcapFrame[] = [];
  for (let at = 24; at < bytes.length; ) {
    assert.ok(at + 16 <= bytes.length, 'a record is torn');
    const [seconds, fraction, kept, length] = [0, 4, 8, 12].map((field) => bytes.readUInt32LE(at + field)) as [
      number,
      number,
      number,
      number,
    ];
    assert.ok(fraction < perSecond && kept <= 65_535 && kept <= length, 'a record is not sound');
    assert.ok(at + 16 + kept <= bytes.length, 'a frame is torn');
    frames.push({ time: seconds + fraction / perSecond, length, data: bytes.subarray(at + 16, at + 16 + kept) });
    at += 16 + kept;
  }
  return {
    magic,
    version: `${bytes.readUInt16LE(4)}.${bytes.readUInt16LE(6)}`,
    snapLength: bytes.readUInt32LE(16),
    linkType: bytes.readUInt32LE(20),
    frames,
  };
}
