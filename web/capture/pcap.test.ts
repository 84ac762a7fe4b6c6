import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Packet, PcapParser, pcapFile } from './pcap.ts';

const file = new Uint8Array(await readFile(join(import.meta.dirname, 'traffic.pcap')));

function parse(chunks: Iterable<Uint8Array>): { readonly packets: Packet[]; readonly linkType: number | undefined } {
  const parser = new PcapParser();
  const packets: Packet[] = [];
  for (const chunk of chunks) {
    parser.push(chunk);
    for (let packet = parser.next(); packet; packet = parser.next()) packets.push(packet);
  }
  return { packets, linkType: parser.linkType };
}

function* pieces(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

describe('a pcap file', () => {
  it('is read alike as a whole and in pieces of any length', () => {
    const whole = parse([file]);
    assert.equal(whole.packets.length, 45);
    assert.equal(whole.linkType, 1);
    for (const length of [1, 7, 24, 100, 1000]) assert.deepEqual(parse(pieces(file, length)).packets, whole.packets);
  });

  it('has the time and the lengths of its packets', () => {
    const [first] = parse([file]).packets;
    assert.equal(first?.number, 1);
    assert.equal(new Date(first.timeMs).toISOString(), '2026-11-21T05:49:19.137Z');
    assert.equal(first.length, 66);
    assert.equal(first.bytes.length, 66);
  });

  it('holds a packet back until it is complete', () => {
    const { packets } = parse([file.subarray(0, 24 + 16 + 65)]);
    assert.deepEqual(packets, []);
  });

  it('round-trips unchanged', async () => {
    const { packets } = parse([file]);
    const written = new Uint8Array(await pcapFile(packets, 1).arrayBuffer());
    assert.deepEqual(written.subarray(24), file.subarray(24));
    assert.deepEqual(parse([written]).packets.length, 45);
  });

  it('may have nanoseconds, and the other byte order', () => {
    const bytes = Buffer.alloc(24 + 16 + 2);
    bytes.writeUInt32BE(0xa1b23c4d, 0);
    bytes.writeUInt32BE(113, 20);
    bytes.writeUInt32BE(2, 24);
    bytes.writeUInt32BE(500_000, 28);
    bytes.writeUInt32BE(2, 32);
    bytes.writeUInt32BE(60, 36);
    const { packets, linkType } = parse([bytes]);
    assert.equal(linkType, 113);
    assert.deepEqual(
      packets.map(({ timeMs, length }) => [timeMs, length]),
      [[2000.5, 60]],
    );
  });

  it('is refused when its format is wrong', () => {
    assert.throws(() => parse([Buffer.alloc(24, 'x')]), /do not begin as a pcap file/);
    const damaged = Buffer.from(file);
    damaged.writeUInt32LE(0x7fffffff, 24 + 8);
    assert.throws(() => parse([damaged]), /damaged/);
  });
});
