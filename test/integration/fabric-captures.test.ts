/** Captures of a link: the content of the file, when it is written, and the effect on the link. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parsePcap } from '../support/pcap.ts';
import { waitFor } from '../support/wait-for.ts';
import { linkOf, startFabric, startLink, streamEnd } from '../support/with-fabric.ts';

const frameOf = (text: string, length = 60) => Buffer.alloc(length, text);
const textOf = (frames: readonly { data: Buffer }[]) => frames.map(({ data }) => String.fromCharCode(data[0] ?? 0)).join('');
const read = async (path: string) => parsePcap(await readFile(path));
const framesIn = (path: string, count: number) =>
  waitFor(
    async () => {
      const bytes = await readFile(path).catch(() => Buffer.alloc(0));
      if (bytes.length < 24) return undefined;
      const pcap = parsePcap(bytes);
      return pcap.frames.length >= count && pcap;
    },
    { what: `${count} frames in ${path}`, everyMs: 5 },
  );

describe('a capture', () => {
  it('has its header at once, and then both directions with their times', async (context) => {
    const { a, b, change, folder, stats } = await startLink(context);
    const path = `${folder}/x.pcap`;
    const begin = Date.now() / 1000;
    await change({ captures: [{ path, linkType: 1 }] });
    const empty = await framesIn(path, 0);
    assert.deepEqual(empty, { magic: 0xa1b2c3d4, version: '2.4', snapLength: 65_535, linkType: 1, frames: [] });
    a.send(frameOf('1', 100), frameOf('2', 1500));
    await b.receive(2);
    b.send(frameOf('3'));
    await a.receive(1);
    const { frames } = await framesIn(path, 3);
    assert.deepEqual([textOf(frames), frames.map(({ length }) => length)], ['123', [100, 1500, 60]]);
    for (const [index, { time }] of frames.entries()) {
      // The time of day; how exact it is, is not seen in two processes' clocks.
      assert.ok(time > begin - 1 && time < Date.now() / 1000 + 1, `frame ${index} at ${time}`);
      assert.ok(time >= (frames[index - 1]?.time ?? 0));
    }
    assert.deepEqual((await stats()).captures, [{ path, frames: 3, bytes: 24 + 3 * 16 + 1660, missed: 0 }]);
  });

  it('shows either side of the filters, with nanoseconds on request', async (context) => {
    const { a, b, change, folder } = await startLink(context);
    const [before, after] = [`${folder}/before.pcap`, `${folder}/after.pcap`];
    await change({
      filters: { frequency_drop: [2] },
      captures: [
        { path: before, linkType: 1, side: 'before', nanoseconds: true },
        { path: after, linkType: 1 },
      ],
    });
    a.send(...[...'123456'].map((text) => frameOf(text)));
    await b.receive(3);
    const seen = await framesIn(before, 6);
    assert.deepEqual([textOf(seen.frames), seen.magic], ['123456', 0xa1b23c4d]);
    const sent = await framesIn(after, 3);
    assert.deepEqual(
      sent.frames.map(({ data }) => data),
      b.frames,
    );
  });

  it('is complete when its end is answered, and leaves the file', async (context) => {
    const { a, b, change, folder, stats } = await startLink(context);
    const path = `${folder}/x.pcap`;
    await change({ captures: [{ path, linkType: 1 }] });
    a.send(...Array.from({ length: 2000 }, () => frameOf('f', 1500)));
    await b.receive(2000);
    await change({});
    assert.equal((await read(path)).frames.length, 2000);
    assert.equal((await stats()).captures, undefined);
    a.send(frameOf('g'));
    await b.receive(2001);
    assert.equal((await read(path)).frames.length, 2000);
  });

  it('is appended to after the fabric was killed, after its last complete record', async (context) => {
    const { client, a, b, change, folder } = await startLink(context);
    const path = `${folder}/x.pcap`;
    await change({ captures: [{ path, linkType: 1 }] });
    a.send(frameOf('1'), frameOf('2'));
    await b.receive(2);
    await framesIn(path, 2);
    const restored = new Promise((resolve) => client.onRestored(resolve));
    // The file is left as if the fabric had died in the midst of a write.
    const record = (await readFile(path)).subarray(24, 24 + 76);
    await appendFile(path, record.subarray(0, 40));
    process.kill(client.pid, 'SIGKILL');
    await restored;
    await Promise.all([a.connected(2), b.connected(2)]);
    a.send(frameOf('3'));
    await b.receive(3);
    await waitFor(async () => (await readFile(path)).length === 24 + 3 * 76, { what: 'the third frame in the file' });
    assert.equal(textOf((await read(path)).frames), '123');
  });

  it('is appended to in its file by a capture of another link', async (context) => {
    const { client, a, b, change, folder } = await startLink(context);
    const path = `${folder}/x.pcap`;
    await change({ captures: [{ path, linkType: 1 }] });
    a.send(frameOf('1'));
    await b.receive(1);
    const [c, d] = [await streamEnd(context, `${folder}/c`), await streamEnd(context, `${folder}/d`)];
    const other = linkOf(c.port, d.port, { id: 'other', captures: [{ path, linkType: 1 }] });
    assert.deepEqual(await client.apply([other, linkOf(a.port, b.port)]), []);
    await Promise.all([c.connected(), d.connected()]);
    c.send(frameOf('2'));
    await d.receive(1);
    assert.equal(textOf((await framesIn(path, 2)).frames), '12');
  });

  it('ends at its limit of bytes, and of time', async (context) => {
    const { a, b, change, folder, stats } = await startLink(context);
    const [short, brief] = [`${folder}/short.pcap`, `${folder}/brief.pcap`];
    await change({ captures: [{ path: short, linkType: 1, maxBytes: 24 + 2 * 76 + 75 }] });
    a.send(...[...'1234'].map((text) => frameOf(text)));
    await b.receive(4);
    assert.equal(textOf((await framesIn(short, 2)).frames), '12');
    assert.match((await stats()).captures?.[0]?.ended ?? '', /limit of 251 bytes/);
    await change({ captures: [{ path: brief, linkType: 1, until: Date.now() - 1 }] });
    assert.match((await stats()).captures?.[0]?.ended ?? '', /time is over/);
    a.send(frameOf('5'));
    await b.receive(5);
  });

  it('that cannot be written ends and says why; the link does not', async (context) => {
    const { a, b, change, folder, stats } = await startLink(context);
    const endedWith = async (path: string) => {
      await change({ captures: [{ path, linkType: 1 }] });
      a.send(frameOf('x', 1500));
      return waitFor(async () => (await stats()).captures?.[0]?.ended, { what: 'the capture to end' });
    };
    assert.match(await endedWith(`${folder}/nowhere/x.pcap`), /ENOENT/);
    assert.match(await endedWith('/dev/full'), /ENOSPC/);
    await writeFile(`${folder}/other`, 'this is not a capture');
    assert.match(await endedWith(`${folder}/other`), /not one of this capture/);
    assert.equal(await readFile(`${folder}/other`, 'utf8'), 'this is not a capture');
    await b.receive(3);
  });

  it('keeps of the longest frames what the format can hold', async (context) => {
    const { a, b, change, folder } = await startLink(context);
    const path = `${folder}/x.pcap`;
    await change({ captures: [{ path, linkType: 1 }] });
    a.send(frameOf('l', 69_632), frameOf('s'));
    await b.receive(2);
    const { frames } = await framesIn(path, 2);
    assert.deepEqual(
      frames.map(({ length, data }) => [length, data.length]),
      [
        [69_632, 65_535],
        [60, 60],
      ],
    );
  });
});

describe('missed frames', () => {
  it('are counted while the file cannot be written, and the link keeps working', async (context) => {
    const { client, folder } = await startFabric(context);
    const [a, b] = [await streamEnd(context, `${folder}/a`), await streamEnd(context, `${folder}/b`)];
    // The pipe has no reader: opening it for reading and writing succeeds, and writes stop when it is full.
    const path = `${folder}/pipe`;
    await promisify(execFile)('mkfifo', [path]);
    await client.apply([linkOf(a.port, b.port, { captures: [{ path, linkType: 1 }] })]);
    await Promise.all([a.connected(), b.connected()]);
    const count = 30_000;
    for (let sent = 0; sent < count; sent += 500) {
      a.send(...Array.from({ length: 500 }, () => frameOf('f', 1500)));
      await b.receive(sent + 500);
    }
    const [link] = await client.stats();
    const [capture] = link?.captures ?? [];
    assert.equal(link?.ab.sent, count);
    assert.ok((capture?.missed ?? 0) > 5000, `${capture?.missed} missed`);
    assert.equal((capture?.frames ?? 0) + (capture?.missed ?? 0), count);
  });
});
