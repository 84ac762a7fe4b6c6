/** The programs that unpack bzip2 and LZMA read what strangers sent: which user they are, and what they may use. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { constants, crc32, zstdCompressSync } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { zipByHand } from '../../../test/support/zip-by-hand.ts';
import { findProgram } from '../../emulators/host/find-program.ts';
import { childrenOf } from '../../process/proc.ts';
import { openUnpacked } from './unpack.ts';

const tools = ['bzip2', 'xz'] as const;
const found = await Promise.all(tools.map(findProgram));
const skip = found.includes(undefined) && 'bzip2 or xz is not installed';
const content = Buffer.alloc(4 * 2 ** 20, 'a line of text\n');

function packed(tool: (typeof tools)[number]): { method: number; packed: Buffer } {
  const options = { input: content, maxBuffer: content.length };
  if (tool === 'bzip2') return { method: 12, packed: execFileSync('bzip2', ['-c'], options) };
  const file = execFileSync('xz', ['-c', '--format=lzma'], options);
  // A .lzma file: properties (5), length (8), data. In archives: version (2), length of the properties (2), properties, data.
  return { method: 14, packed: Buffer.concat([Buffer.from([9, 4, 5, 0]), file.subarray(0, 5), file.subarray(13)]) };
}

async function open(tool: (typeof tools)[number], claims: { sizeBytes?: number } = {}): Promise<Readable> {
  const entry = { name: 'large', content, ...packed(tool), ...(tool === 'xz' && { flags: 2 }), claims };
  const zip = await fromBufferPromise(zipByHand([entry]), { lazyEntries: true });
  for await (const one of zip.eachEntry()) return openUnpacked(zip, one);
  throw new Error('the archive is empty');
}

/** The process that runs this program, below this one. */
async function unpacker(tool: string, below = process.pid): Promise<number | undefined> {
  for (const { pid } of await childrenOf(below)) {
    const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
    if (program.endsWith(`/${tool}`)) return pid;
    const deeper = await unpacker(tool, pid);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

for (const tool of tools) {
  test(`${tool} runs without privileges and within limits of memory, time and files`, { skip }, async () => {
    const stream = await open(tool);
    let pid: number | undefined;
    // The unpacker waits until its output is read.
    while (pid === undefined) {
      pid = await unpacker(tool);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const [status, limits] = await Promise.all(['status', 'limits'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')));
    assert.match(status ?? '', /^NoNewPrivs:\s+1$/m);
    assert.match(status ?? '', /^CapEff:\s+0{16}$/m);
    if (process.getuid?.() === 0) {
      assert.match(status ?? '', /^Uid:\s+61101\s+61101\s+61101\s+61101$/m);
      assert.match(status ?? '', /^Gid:\s+61101\s+61101\s+61101\s+61101$/m);
      assert.match(status ?? '', /^Groups:\s*$/m);
    }
    assert.match(limits ?? '', /^Max address space\s+536870912 /m);
    assert.match(limits ?? '', /^Max cpu time\s+\d+ /m);
    assert.match(limits ?? '', /^Max file size\s+0 /m);
    assert.match(limits ?? '', /^Max open files\s+\d{1,2} /m);
    assert.match(limits ?? '', /^Max core file size\s+0 /m);
    assert.deepEqual(await buffer(stream), content);
  });

  test(`what ${tool} unpacks, and ${tool}, end where the entry says that it ends`, { skip, timeout: 20_000 }, async () => {
    await assert.rejects(buffer(await open(tool, { sizeBytes: 70_000 })), /holds more bytes than it declares|is damaged/);
    while ((await unpacker(tool)) !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  });
}

/** Opens the only entry of an archive that is compressed by Zstandard. */
async function openZstd(packed: Buffer, claims: { sizeBytes?: number; crc?: number } = {}, of = content): Promise<Readable> {
  const zip = await fromBufferPromise(zipByHand([{ name: 'large', content: of, method: 93, packed, claims }]), {
    lazyEntries: true,
  });
  for await (const one of zip.eachEntry()) return openUnpacked(zip, one);
  throw new Error('the archive is empty');
}

test('entries of Zstandard are unpacked at every level that GNS3 offers', async () => {
  for (const level of [1, 3, 19, 22]) {
    const packed = zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: level } });
    assert.deepEqual(await buffer(await openZstd(packed)), content);
  }
});

test('a bomb of Zstandard ends where the entry says that it ends', { timeout: 60_000 }, async () => {
  const bomb = zstdCompressSync(Buffer.alloc(256 * 2 ** 20));
  assert.ok(bomb.length < 64 * 1024);
  let read = 0;
  const reading = (async () => {
    for await (const chunk of await openZstd(bomb, { sizeBytes: 70_000 }, Buffer.alloc(0))) read += (chunk as Buffer).length;
  })();
  await assert.rejects(reading, /holds more bytes than it declares/);
  assert.ok(read <= 70_000);
});

test('entries of Zstandard that are cut off, damaged, or of another size are refused', { timeout: 60_000 }, async () => {
  const packed = zstdCompressSync(content);
  const damaged = Buffer.from(packed);
  damaged.fill(0xff, packed.length >> 1, (packed.length >> 1) + 8);
  for (const wrong of [
    packed.subarray(0, packed.length >> 1),
    packed.subarray(0, 3),
    Buffer.alloc(0),
    damaged,
    Buffer.from('none'),
  ])
    await assert.rejects(async () => buffer(await openZstd(wrong)), /cannot be unpacked|is damaged/);
  await assert.rejects(async () => buffer(await openZstd(packed, { sizeBytes: content.length + 1 })), /fewer bytes/);
  await assert.rejects(async () => buffer(await openZstd(packed, { crc: crc32('other') })), /its checksum is another one/);
});

test('an entry that needs a window of more than 128 MiB is refused', async () => {
  // RFC 8878, 3.1.1.1: magic number, no content size, window of 2^(10 + 18) bytes, then an empty last block.
  const wide = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 0x01, 0x00, 0x00]);
  await assert.rejects(async () => buffer(await openZstd(wide, {}, Buffer.alloc(0))), /cannot be unpacked/);
});
