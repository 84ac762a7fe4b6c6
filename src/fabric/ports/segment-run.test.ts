/** Cutting packets of TCP into segments, and merging segments into packets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { frameLength, headerBytes } from '../frames.ts';
import { completeChecksum, maxCutBytes, SegmentCutter } from './segment-cutter.ts';
import { SegmentRun } from './segment-run.ts';

const ether = 14;

interface Wanted {
  readonly payload: number;
  readonly isIpv6?: boolean;
  readonly tag?: boolean;
  readonly flags?: number;
}

/** A packet of TCP with time stamps, as the kernel hands it over: larger than a segment, and without a checksum. */
function packetOf({ payload, isIpv6 = false, tag = false, flags = 0x18 }: Wanted): { packet: Buffer; tcp: number } {
  const ip = ether + (tag ? 4 : 0);
  const tcp = ip + (isIpv6 ? 40 : 20);
  const packet = Buffer.alloc(tcp + 32 + payload);
  packet.write(`0200000000020200000000018100000786dd`, 'hex');
  packet.writeUInt16BE(isIpv6 ? 0x86dd : 0x0800, ip - 2);
  if (isIpv6) packet.write('600000000000064000000000000000000000000000000001000000000000000000000000000000ff', ip, 'hex');
  else packet.write('450000004711400040060000 0a0000010a000002'.replace(' ', ''), ip, 'hex');
  packet.write('1389138a', tcp, 'hex');
  packet.writeUInt32BE(0xffff_ff00, tcp + 4);
  packet.writeUInt32BE(0x1234_5678, tcp + 8);
  packet.writeUInt16BE(0x8000 | flags, tcp + 12);
  packet.writeUInt16BE(512, tcp + 14);
  packet.write('0101080a0000000100000002', tcp + 20, 'hex');
  for (let at = 0; at < payload; at += 1) packet[tcp + 32 + at] = (at * 31 + (at >>> 8)) & 0xff;
  return { packet, tcp };
}

function cut(wanted: Wanted, payloadBytes: number): { buffer: Buffer; view: DataView; frames: Buffer[]; end: number } {
  const buffer = Buffer.allocUnsafeSlow(maxCutBytes);
  const view = new DataView(buffer.buffer);
  const cutter = new SegmentCutter();
  const { packet, tcp } = packetOf(wanted);
  const end = cutter.cut(packet, { tcp, payloadBytes }, { buffer, view, at: 0 });
  const frames: Buffer[] = [];
  for (let at = 0; at < end; at += headerBytes + frameLength(buffer, at)) {
    frames.push(buffer.subarray(at + headerBytes, at + headerBytes + frameLength(buffer, at)));
  }
  assert.equal(frames.length, cutter.frames);
  return { buffer, view, frames, end };
}

function runOf({ buffer, view, end }: { buffer: Buffer; view: DataView; end: number }, start = 0): SegmentRun {
  const run = new SegmentRun();
  run.find(view, buffer, { start, end, most: 64 });
  return run;
}

describe('segments of TCP', () => {
  for (const isIpv6 of [false, true]) {
    it(`are cut from a packet and merged again, ${isIpv6 ? 'IPv6' : 'IPv4'}`, () => {
      const { packet, tcp } = packetOf({ payload: 5001, isIpv6, flags: 0x19 });
      const made = cut({ payload: 5001, isIpv6, flags: 0x19 }, 1447);
      const lengths = made.frames.map(({ length }) => length - tcp - 32);
      assert.deepEqual(lengths, [1447, 1447, 1447, 660]);
      assert.ok(Buffer.concat(made.frames.map((frame) => frame.subarray(tcp + 32))).equals(packet.subarray(tcp + 32)));
      assert.deepEqual(
        made.frames.map((frame) => (frame.readUInt32BE(tcp + 4) + 0x100) >>> 0),
        [0, 1447, 2894, 4341],
        'sequence numbers, over the end of their range',
      );
      assert.deepEqual(
        made.frames.map((frame) => (frame[tcp + 13] as number) & 0x3f),
        [0x10, 0x10, 0x10, 0x19],
        'FIN and PSH are those of the last one',
      );
      // FIN is not merged.
      const run = runOf(made);
      assert.deepEqual(
        [run.frames, run.payloadBytes, run.totalPayloadBytes, run.headersBytes, run.isPushed],
        [3, 1447, 4341, tcp + 32, false],
      );
    });
  }

  it('end a run when they are shorter or pushed, and the next one begins behind it', () => {
    const run = runOf(cut({ payload: 3000 }, 1000));
    assert.deepEqual([run.frames, run.isPushed, run.totalPayloadBytes], [3, true, 3000]);
    const short = cut({ payload: 2500, flags: 0x10 }, 1000);
    assert.deepEqual([runOf(short).frames, runOf(short).next], [3, short.end]);
    const most = new SegmentRun();
    most.find(short.view, short.buffer, { start: 0, end: short.end, most: 2 });
    assert.equal(most.frames, 2);
  });

  it('are not merged when they differ in what a packet has once, or are damaged', () => {
    const tcp = ether + 20;
    const changes: Record<string, (frame: Buffer) => void> = {
      'payload, damaged': (frame) => frame.writeUInt8((frame[500] as number) ^ 1, 500),
      'checksum of TCP': (frame) => frame.writeUInt16BE(1, tcp + 16),
      'checksum of IP': (frame) => frame.writeUInt16BE(1, ether + 10),
      'number of IP': (frame) => frame.writeUInt16BE(7, ether + 4),
      'time to live': (frame) => frame.writeUInt8(63, ether + 8),
      'type of service': (frame) => frame.writeUInt8(3, ether + 1),
      fragment: (frame) => frame.writeUInt16BE(0x2000, ether + 6),
      'destination of Ethernet': (frame) => frame.writeUInt8(9, 5),
      port: (frame) => frame.writeUInt16BE(1, tcp),
      sequence: (frame) => frame.writeUInt32BE(1, tcp + 4),
      acknowledged: (frame) => frame.writeUInt32BE(1, tcp + 8),
      window: (frame) => frame.writeUInt16BE(1, tcp + 14),
      'reset flag': (frame) => frame.writeUInt8(0x14, tcp + 13),
      'time stamp': (frame) => frame.writeUInt8(9, tcp + 27),
      'length of IP': (frame) => frame.writeUInt16BE(100, ether + 2),
    };
    for (const [what, change] of Object.entries(changes)) {
      for (const which of [0, 1]) {
        const made = cut({ payload: 3000, flags: 0x10 }, 1000);
        change(made.frames[which] as Buffer);
        assert.equal(runOf(made).frames, 1, `${what} of ${which === 0 ? 'the first' : 'the second'}`);
      }
    }
    assert.equal(runOf(cut({ payload: 3000, tag: true }, 1000)).frames, 1, 'with a VLAN tag');
  });

  it('are cut behind a VLAN tag; what is no packet of TCP is not cut', () => {
    assert.equal(cut({ payload: 3000, tag: true }, 1000).frames.length, 3);
    const [buffer, cutter] = [Buffer.alloc(maxCutBytes), new SegmentCutter()];
    const target = { buffer, view: new DataView(buffer.buffer), at: 0 };
    const { packet, tcp } = packetOf({ payload: 100 });
    for (const notes of [
      { tcp: 0, payloadBytes: 50 },
      { tcp: 2, payloadBytes: 50 },
      { tcp: packet.length, payloadBytes: 50 },
      { tcp, payloadBytes: 0 },
    ])
      assert.equal(cutter.cut(packet, notes, target), 0, JSON.stringify(notes));
    assert.equal(cutter.cut(packet.subarray(0, 20), { tcp, payloadBytes: 50 }, target), 0);
    for (const [what, at, byte] of [
      ['UDP', ether + 9, 17],
      ['options, or a tunnel in which TCP is', ether, 0x46],
      ['neither IPv4 nor IPv6', ether - 2, 0x88],
    ] as const) {
      const other = Buffer.from(packet);
      other[at] = byte;
      assert.equal(cutter.cut(other, { tcp, payloadBytes: 50 }, target), 0, what);
    }
    assert.ok(
      buffer.every((byte) => byte === 0),
      'nothing was written',
    );
  });

  it('fit into the memory for them, however small they are', () => {
    const { packet, tcp } = packetOf({ payload: 65_000 });
    const buffer = Buffer.alloc(maxCutBytes);
    const end = new SegmentCutter().cut(packet, { tcp, payloadBytes: 32 }, { buffer, view: new DataView(buffer.buffer), at: 0 });
    assert.ok(end > 65_000 && end <= maxCutBytes);
  });
});

describe('a checksum that is incomplete', () => {
  it('is completed in place; 0 is written as its other form; nothing outside of the frame is touched', () => {
    const buffer = Buffer.from('00010002ffff0000', 'hex');
    const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
    completeChecksum(view, 6, { from: 0, end: 8 });
    assert.equal(buffer.readUInt16BE(6), 0xffff - 3);
    completeChecksum(view, 6, { from: 4, end: 8 });
    completeChecksum(view, 7, { from: 0, end: 8 });
    completeChecksum(view, 0, { from: 8, end: 8 });
    const zero = Buffer.from('ffff0000', 'hex');
    completeChecksum(new DataView(zero.buffer, zero.byteOffset, 4), 2, { from: 0, end: 4 });
    assert.equal(zero.readUInt16BE(2), 0xffff);
  });
});
