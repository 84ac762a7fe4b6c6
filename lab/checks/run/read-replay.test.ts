import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { filesBelow } from '../../file/lab-files.ts';
import { readReplay, trainOf } from './read-replay.ts';

interface PcapOptions {
  readonly magic?: number;
  readonly isLittle?: boolean;
  readonly linkType?: number;
}

/** `packets`: seconds, fraction, length of the frame, and bytes of it in the file. */
function pcap(packets: readonly (readonly [number, number, number, number?])[], options: PcapOptions = {}): Buffer {
  const { magic = 0xa1b2c3d4, isLittle = true, linkType = 1 } = options;
  const words = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [index, value] of values.entries()) {
      if (isLittle) bytes.writeUInt32LE(value, 4 * index);
      else bytes.writeUInt32BE(value, 4 * index);
    }
    return bytes;
  };
  const version = isLittle ? 0x00040002 : 0x00020004;
  return Buffer.concat([
    words(magic, version, 0, 0, 65_535, linkType),
    ...packets.flatMap(([seconds, fraction, length, kept = 14]) => [words(seconds, fraction, kept, length), Buffer.alloc(kept)]),
  ]);
}

test('times and sizes of a pcap file, in both byte orders and both units of time', () => {
  const times = [
    [1_700_000_000, 999_000, 42],
    [1_700_000_001, 0, 1514],
    [1_700_000_000, 999_500, 9000],
    [1_700_000_001, 500, 100, 100],
  ] as const;
  const wanted = { gaps_us: [0, 1000, 0, 500], sizes: [60, 1514, 1514, 100] };
  assert.deepEqual(trainOf(pcap(times)), wanted);
  assert.deepEqual(trainOf(pcap(times, { isLittle: false })), wanted);
  const nanoseconds = times.map(([seconds, us, length, kept = 14]) => [seconds, us * 1000 + 1, length, kept] as const);
  for (const isLittle of [true, false]) assert.deepEqual(trainOf(pcap(nanoseconds, { magic: 0xa1b23c4d, isLittle })), wanted);
});

test('`for` leaves later packets out', () => {
  const content = pcap([
    [5, 0, 60],
    [6, 0, 60],
    [4000, 0, 60],
  ]);
  assert.deepEqual(trainOf(content, 1000), { gaps_us: [0, 1_000_000], sizes: [60, 60] });
  assert.throws(() => trainOf(content), /lasts longer than 10 minutes. Repeat its beginning only: `for: 10s`/);
});

test('what is not a pcap file of Ethernet, or is damaged, is refused with a reason', () => {
  const whole = pcap([
    [1, 0, 60],
    [2, 0, 60],
  ]);
  const many = pcap(Array.from({ length: 40_001 }, () => [1, 0, 60, 0] as const));
  const refused: readonly (readonly [Buffer, RegExp])[] = [
    [Buffer.alloc(0), /^ReplayError: is not a pcap file$/],
    [Buffer.from('GIF89a, and more than a header of pcap has'), /^ReplayError: is not a pcap file$/],
    [whole.subarray(0, 23), /^ReplayError: is not a pcap file$/],
    [Buffer.from('0a0d0d0a1c0000004d3c2b1a', 'hex'), /pcapng file. Convert it: editcap -F pcap/],
    [pcap([], { magic: 0xa1b2cd34 }), /^ReplayError: is not a pcap file$/],
    [pcap([[1, 0, 60]], { linkType: 113 }), /link type 113, not of Ethernet/],
    [pcap([]), /has no packets/],
    [whole.subarray(0, -1), /is damaged: it ends within packet 2/],
    [whole.subarray(0, -20), /is damaged: it ends within packet 2/],
    [pcap([[1, 1_000_000, 60]]), /packet 1 has no valid time stamp/],
    [many, /has more than 40000 packets/],
  ];
  for (const [content, problem] of refused) assert.throws(() => trainOf(content), problem);
  const longKept = Buffer.from(whole);
  longKept.writeUInt32LE(0xffff_ffff, 24 + 8);
  assert.throws(() => trainOf(longKept), /packet 1 has 4294967295 bytes/);
});

test('the file is below the folder of the lab, wherever links lead', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-replay-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const read = (file: string) => readReplay(join(folder, 'lab'), { how: 'replay', file, forMs: undefined });
  await writeFile(join(folder, 'outside.pcap'), pcap([[1, 0, 60]]));
  await assert.rejects(read('no.pcap'), /^ReplayError: no\.pcap cannot be read: there is no such file$/);
  await assert.rejects(read('../outside.pcap'), /outside of the folder of the lab file/);
  await mkdir(join(folder, 'lab'));
  await symlink('../outside.pcap', join(folder, 'lab/link.pcap'));
  await assert.rejects(read('link.pcap'), /outside of the folder of the lab file/);
  await writeFile(join(folder, 'lab/own.pcap'), pcap([[1, 0, 60]]));
  assert.deepEqual(await read('own.pcap'), { gaps_us: [0], sizes: [60] });
  await promisify(execFile)('mkfifo', [join(folder, 'lab/pipe.pcap'), join(folder, 'lab/pipe.yaml')]);
  await assert.rejects(read('pipe.pcap'), /^ReplayError: pipe\.pcap is not a file$/);
  await assert.rejects(filesBelow(join(folder, 'lab')).read('pipe.yaml'), /pipe\.yaml is not a file/);
});
