import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { tcpFrame as frame, type Segment } from '../../../test/support/tcp-frames.ts';
import { ethernetLink } from '../decode/decode.ts';
import { type Packet, pcapFile } from '../pcap.ts';
import { tarOf } from '../tar.ts';
import { findFrame } from './frame-path.ts';
import { countProtocols } from './protocol-statistics.ts';
import { contentOf, isSame } from './same-frame.ts';
import { followStream } from './tcp-stream.ts';

const packetsOf = (frames: readonly Uint8Array[]): Packet[] =>
  frames.map((bytes, at) => ({ number: at + 1, timeMs: 1_000 + at, length: bytes.length, bytes }));

async function follow(segments: readonly Segment[], chosen = 0) {
  const packets = packetsOf(segments.map((one) => frame(one)));
  const stream = await followStream(packets, packets[chosen] as Packet);
  assert.ok(stream);
  const pieces = stream.pieces.map(({ direction, data, missing }) => [direction, Buffer.from(data).toString(), missing]);
  return { ...stream, pieces };
}

describe('a TCP stream', () => {
  it('has both directions in order, whatever was reordered, repeated or overlaps', async () => {
    const { pieces, ends, bytes } = await follow([
      { from: 1, sequence: 99, syn: true },
      { from: 2, sequence: 499, syn: true, ack: true },
      { from: 1, sequence: 103, data: 'def' },
      { from: 1, sequence: 100, data: 'abc' },
      { from: 1, sequence: 100, data: 'ABC' },
      { from: 1, sequence: 104, data: 'efgh' },
      { from: 2, sequence: 500, data: 'answer' },
    ]);
    assert.deepEqual(ends, ['10.0.0.1:4000', '10.0.0.2:80']);
    assert.deepEqual(pieces, [
      [0, 'abc', 0],
      [0, 'def', 0],
      [0, 'gh', 0],
      [1, 'answer', 0],
    ]);
    assert.deepEqual(bytes, [8, 6]);
  });

  it('says where bytes are missing, and continues behind them', async () => {
    const { pieces } = await follow([
      { from: 1, sequence: 1, data: 'a' },
      { from: 1, sequence: 10, data: 'b' },
    ]);
    assert.deepEqual(pieces, [
      [0, 'a', 0],
      [0, 'b', 8],
    ]);
  });

  it('continues when sequence numbers begin again at 0', async () => {
    const { pieces } = await follow([
      { from: 1, sequence: 0xfffffffe, data: 'abc' },
      { from: 1, sequence: 1, data: 'de' },
    ]);
    assert.deepEqual(pieces.map(([, text]) => text).join(''), 'abcde');
  });

  it('is one connection: ports that are used again begin another, and other ports do not belong to it', async () => {
    const segments: Segment[] = [
      { from: 1, sequence: 9, syn: true },
      { from: 1, sequence: 10, data: 'old' },
      { from: 1, sequence: 50, data: 'other', ports: [4001, 80] },
      { from: 1, sequence: 7_000, syn: true },
      { from: 1, sequence: 7_001, data: 'new' },
    ];
    assert.deepEqual((await follow(segments, 1)).pieces, [[0, 'old', 0]]);
    assert.deepEqual((await follow(segments, 4)).pieces, [[0, 'new', 0]]);
  });

  it('is none for other frames, and no truncated or damaged frame breaks it', async () => {
    const whole = frame({ from: 1, sequence: 5, data: 'data' });
    const cut = Array.from({ length: whole.length }, (_, length) => whole.subarray(0, length));
    const damaged = Array.from({ length: whole.length }, (_, at) => Buffer.from(whole).fill(0xff, at, at + 1));
    const packets = packetsOf([...cut, ...damaged, whole]);
    for (const packet of packets) await followStream(packets, packet);
    for (const bytes of cut) assert.equal(await followStream(packets, packetsOf([bytes])[0] as Packet), undefined);
    assert.ok((await countProtocols(packets, ethernetLink)).length > 0);
    for (const { bytes, length } of packets) contentOf(bytes, length);
  });
});

describe('the statistics', () => {
  it('count a protocol with all that is inside it', async () => {
    const arp = Buffer.alloc(60);
    arp.writeUInt16BE(0x0806, 12);
    const packets = packetsOf([frame({ from: 1, sequence: 1 }), frame({ from: 1, sequence: 2 }), arp]);
    const rows = await countProtocols(packets, ethernetLink);
    assert.deepEqual(
      rows.map(({ name, depth, packets: count, bytes }) => [name, depth, count, bytes]),
      [
        ['Ethernet', 0, 3, 168],
        ['IPv4', 1, 2, 108],
        ['TCP', 2, 2, 108],
        ['ARP', 1, 1, 60],
      ],
    );
    assert.equal(rows[1]?.packetShare, 2 / 3);
    assert.deepEqual(await countProtocols([], ethernetLink), []);
  });
});

describe('the path of a frame', () => {
  const content = (bytes: Uint8Array) => contentOf(bytes, bytes.length) ?? assert.fail('no content');
  const segment: Segment = { from: 1, sequence: 77, data: 'payload' };

  it('is the same frame behind routers and switches, and another one with another byte', () => {
    const sent = content(frame(segment));
    assert.ok(isSame(sent, content(frame(segment, { ttl: 63, tag: true, macs: 5 }))));
    assert.ok(isSame(sent, content(Buffer.concat([frame(segment), Buffer.alloc(7)]))));
    assert.ok(!isSame(sent, content(frame({ ...segment, data: 'payloaD' }))));
    assert.equal(contentOf(frame(segment).subarray(0, 40), 61), undefined);
  });

  it('lists the captures that hold it by time, the nearest of equal frames, and survives files that are no captures', async () => {
    const at = (timeMs: number, bytes: Uint8Array): Packet => ({ number: 1, timeMs, length: bytes.length, bytes });
    const later = [
      at(900, frame(segment, { ttl: 63 })),
      at(1_004, frame(segment, { ttl: 62 })),
      at(1_005, frame({ ...segment, sequence: 1 })),
    ];
    const contents: Readonly<Record<string, Blob>> = {
      behind: pcapFile(later, ethernetLink),
      before: pcapFile([at(995, frame(segment, { ttl: 65 }))], ethernetLink),
      broken: new Blob(['this is no capture, and long enough to be noticed']),
      own: new Blob([]),
    };
    const file = (name: string) => ({ name, size: 1, modified: null, link_id: null, capturing: false, started: null });
    const path = await findFrame(at(1_000, frame(segment)), {
      api: { stream: async (name) => contents[name]?.stream() ?? assert.fail(name) },
      pathOf: (name) => name,
      files: Object.keys(contents).map(file),
      ownFile: 'own',
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
    assert.deepEqual(
      path?.sightings.map(({ file: name, timeMs, hops, copies }) => [name, timeMs, hops, copies]),
      [
        ['before', 995, 65, 1],
        ['own', 1_000, 64, 1],
        ['behind', 1_004, 62, 2],
      ],
    );
    assert.equal(path?.unread, 1);
  });
});

describe('an archive of captures', () => {
  it('is read by tar', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pb-tar-'));
    try {
      const long = `${'ü'.repeat(48)}-long-name.pcap`;
      const entries = ['one.pcap', 'two ü.pcap', long].map((name, at) => ({
        name,
        modifiedMs: 0,
        content: new Blob(['x'.repeat(512 * at + 7)]),
      }));
      await writeFile(join(folder, 'all.tar'), await tarOf(entries).bytes());
      const { stdout } = await promisify(execFile)('tar', ['-xvf', 'all.tar'], {
        cwd: folder,
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      });
      assert.equal(stdout.split('\n').filter(Boolean).length, 3);
      const { stdout: sizes } = await promisify(execFile)('wc', ['-c', 'one.pcap', 'two ü.pcap', long], { cwd: folder });
      assert.match(sizes, /^ *7 one\.pcap\n *519 two ü\.pcap\n *1031 ü+-long-name\.pcap/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
