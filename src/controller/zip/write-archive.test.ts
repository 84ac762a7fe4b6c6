/** Archives that are written are read again, whatever their compression. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { fromBufferPromise } from 'yauzl';
import { extractArchive } from './extract.ts';
import { type ArchiveCompression, archiveFolder } from './write-archive.ts';

const compressions: readonly (readonly [ArchiveCompression, number])[] = [
  [{ method: 'none' }, 0],
  [{ method: 'zip' }, 8],
  [{ method: 'zip', level: 1 }, 8],
  [{ method: 'zstd' }, 93],
  [{ method: 'zstd', level: 22 }, 93],
];

for (const [compression, method] of compressions)
  test(`${JSON.stringify(compression)}: an archive has the method, and its files are read again`, async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'pb-archive-'));
    context.after(() => rm(folder, { recursive: true }));
    const [from, to, archive] = [join(folder, 'from'), join(folder, 'to'), join(folder, 'archive')];
    const files = { 'a.txt': 'a line\n'.repeat(50_000), 'deep/b.bin': 'b', 'deep/empty': '' };
    for (const [name, content] of Object.entries(files)) {
      await mkdir(join(from, 'deep'), { recursive: true });
      await writeFile(join(from, name), content);
    }
    let doneBytes = 0;
    const onBytes = (done: number) => {
      doneBytes = done;
    };
    const project = Buffer.from(JSON.stringify({ name: 'x' }));
    const { output, totalBytes } = await archiveFolder(from, new Map([['project.gns3', project]]), { compression, onBytes });
    const bytes = await buffer(output);
    assert.equal(doneBytes, totalBytes);
    const methods = new Set<number>();
    const zip = await fromBufferPromise(bytes, { lazyEntries: true });
    for await (const entry of zip.eachEntry()) methods.add(entry.compressionMethod);
    assert.deepEqual([...methods], [method]);
    await writeFile(archive, bytes);
    await mkdir(to);
    await extractArchive({ archive, folder: to, floorBytes: 0 });
    assert.deepEqual(await readFile(join(to, 'project.gns3')), project);
    for (const [name, content] of Object.entries(files)) assert.equal(await readFile(join(to, name), 'utf8'), content);
  });

test('a file that grows while it is archived ends the archive with an error', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-archive-'));
  context.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'file'), 'before');
  const { output } = await archiveFolder(folder, new Map([['project.gns3', Buffer.alloc(8 * 2 ** 20, 'x')]]), {
    compression: { method: 'zstd' },
  });
  await writeFile(join(folder, 'file'), 'before, and more');
  await assert.rejects(buffer(output), /was changed while it was read/);
});
