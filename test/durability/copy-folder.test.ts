/** Copies of nodes' files: only blocks that are new cross the network, and an update that is cut off at any step leaves the copy before it or is merged. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, open, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { differences, filesBelow, type HashedFile, hashFile, readBlocks } from '../../src/compute/host/copied-files.ts';
import { CopyFolder } from '../../src/controller/copies/copy-folder.ts';
import { type CopySource, updateCopy } from '../../src/controller/copies/update-copy.ts';
import { copyBlockBytes, largestCopiedBytes } from '../../src/schema/node-copy.ts';

const everything = async () => undefined;

async function scratch(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-copies-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A node's folder as its compute lists it. */
class Node implements CopySource {
  readonly folder: string;
  #files = new Map<string, HashedFile>();
  /** Bytes after which the connection breaks. */
  breaksAfter = Number.POSITIVE_INFINITY;

  constructor(folder: string) {
    this.folder = folder;
  }

  async write(path: string, data: Buffer): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true });
    await writeFile(join(this.folder, path), data);
  }

  /** Changes one block, and leaves the others. */
  async change(path: string, block: number, data = randomBytes(copyBlockBytes)): Promise<void> {
    const whole = await readFile(join(this.folder, path));
    const grown = Buffer.alloc(Math.max(whole.length, block * copyBlockBytes + data.length));
    whole.copy(grown);
    data.copy(grown, block * copyBlockBytes);
    await this.write(path, grown);
  }

  async list() {
    const files = new Map<string, HashedFile>();
    for (const path of await filesBelow(this.folder, () => true))
      files.set(path, await hashFile({ folder: this.folder, path, name: path }, this.#files.get(path)));
    // A listing that held an earlier one while it is kept would in turn keep all before it.
    for (const { earlier } of files.values()) assert.ok(earlier === undefined || !('earlier' in earlier));
    this.#files = files;
    return { files: Array.from(files.values(), ({ path, size, sum }) => ({ path, size, sum })) };
  }

  async hashes(path: string, known: string) {
    return Readable.from(differences(this.#files.get(path) as HashedFile, known), { objectMode: false });
  }

  async blocks(path: string, ranges: string) {
    const wanted = ranges.split(',').map((range) => range.split('-').map(Number) as [number, number]);
    const file = this.#files.get(path) as HashedFile;
    const blocks = async function* (this: Node) {
      for await (const block of readBlocks(this.folder, file, wanted)) {
        this.breaksAfter -= block.length;
        if (this.breaksAfter < 0) throw new Error('the connection broke');
        // The pieces of a network are of any length.
        yield block.subarray(0, 1000);
        yield block.subarray(1000);
      }
    };
    return Readable.from(blocks.call(this), { objectMode: false });
  }
}

/** All that is in a folder, by path. */
async function contents(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of await filesBelow(folder, () => true)) found[path] = (await readFile(join(folder, path))).toString('base64');
  return found;
}

async function copied(t: TestContext) {
  const folder = await scratch(t);
  const node = new Node(join(folder, 'node'));
  const copy = new CopyFolder(join(folder, 'copy'));
  const update = () => updateCopy(node, copy, everything);
  const isSame = async () => assert.deepEqual(await contents(copy.file('.')), await contents(node.folder));
  return { folder, node, copy, update, isSame };
}

test('only blocks that are nowhere in the copy are sent', async (t) => {
  const { node, copy, update, isSame } = await copied(t);
  await node.write('hda_disk.qcow2', randomBytes(20 * copyBlockBytes + 100));
  await node.write('configs/startup.cfg', Buffer.from('hostname R1\n'));
  await node.write('sparse', Buffer.alloc(8 * copyBlockBytes));
  await symlink('/etc/passwd', join(node.folder, 'link'));
  // A block of zeros is sent once for all eight.
  assert.equal((await update()).bytes, 20 * copyBlockBytes + 100 + 12 + copyBlockBytes);
  await rm(join(node.folder, 'link'));
  await isSame();
  assert.equal((await update()).bytes, 0);
  await node.change('hda_disk.qcow2', 3);
  await node.change('hda_disk.qcow2', 22);
  // 3, 22, and the one that was the last; 21 is zeros, which the copy has.
  assert.equal((await update()).bytes, 3 * copyBlockBytes);
  await isSame();
  // Written anew in another order.
  const before = await readFile(join(node.folder, 'hda_disk.qcow2'));
  await node.write(
    'hda_disk.qcow2',
    Buffer.concat([before.subarray(10 * copyBlockBytes), before.subarray(0, 10 * copyBlockBytes)]),
  );
  assert.equal((await update()).bytes, 0);
  await isSame();
  await truncate(join(node.folder, 'hda_disk.qcow2'), 5 * copyBlockBytes + 7);
  await rm(join(node.folder, 'configs'), { recursive: true });
  assert.equal((await update()).bytes, 7);
  await isSame();
  const { files = [] } = (await copy.read()) ?? {};
  assert.deepEqual(
    files.map(({ path }) => path),
    ['hda_disk.qcow2', 'sparse'],
  );
  // A host that has lost everything.
  for (const { path } of files) await rm(join(node.folder, path));
  assert.equal((await update()).bytes, 0);
  assert.equal((await copy.read())?.files.length, 2);
});

test('a folder takes the place of a file, and a file that of a folder', async (t) => {
  const { node, update, isSame } = await copied(t);
  await node.write('one', randomBytes(10));
  await node.write('other/below', randomBytes(10));
  await update();
  for (const path of ['one', 'other']) await rm(join(node.folder, path), { recursive: true });
  await node.write('one/below/it', randomBytes(20));
  await node.write('other', randomBytes(20));
  await update();
  await isSame();
});

test('a file that changes again and again keeps one list beside its own', async (t) => {
  const { node } = await copied(t);
  let known: HashedFile | undefined;
  for (let round = 0; round < 3; round++) {
    await node.write('disk', randomBytes(1000 + round));
    known = await hashFile({ folder: node.folder, path: 'disk', name: 'disk' }, known);
  }
  assert.deepEqual(Object.keys(known?.earlier ?? {}), ['sum', 'hashes']);
  await truncate(join(node.folder, 'disk'), largestCopiedBytes + 1);
  await assert.rejects(hashFile({ folder: node.folder, path: 'disk', name: 'disk' }, known), /more than 128 GiB/);
});

test('an update that breaks off leaves the copy before it, whose next update is complete', async (t) => {
  const { node, copy, update, isSame } = await copied(t);
  await node.write('disk', randomBytes(9 * copyBlockBytes));
  await update();
  const before = await contents(copy.file('.'));
  for (const block of [1, 4, 7]) await node.change('disk', block);
  node.breaksAfter = 2 * copyBlockBytes;
  await assert.rejects(update(), /the connection broke/);
  await copy.read();
  assert.deepEqual(await contents(copy.file('.')), before);
  node.breaksAfter = Number.POSITIVE_INFINITY;
  assert.equal((await update()).bytes, 3 * copyBlockBytes);
  await isSame();
  const file = { size: 1, sum: '0'.repeat(64) };
  for (const paths of [['../x'], ['/x'], ['a/'], ['a//b'], ['./a'], [''], ['a\0'], ['a/b', 'a'], ['a', 'a/b/c'], ['a', 'a']]) {
    const list = async () => ({ files: paths.map((path) => ({ path, ...file })) });
    await assert.rejects(updateCopy({ ...source(node), list }, copy, everything), /the compute lists/);
  }
  await copy.remove();
  assert.equal(await copy.read(), undefined);
});

const source = (node: Node): CopySource => ({
  list: () => node.list(),
  hashes: (path, known) => node.hashes(path, known),
  blocks: (path, ranges) => node.blocks(path, ranges),
});

test('a complete update is merged by the next server, from whatever step of it', async (t) => {
  const { folder, node, copy, update, isSame } = await copied(t);
  await node.write('disk', randomBytes(9 * copyBlockBytes));
  await node.write('gone', Buffer.from('x'));
  await update();
  await node.change('disk', 2);
  await node.change('disk', 8, randomBytes(100));
  await node.write('new', randomBytes(10));
  await rm(join(node.folder, 'gone'));
  const at = join(folder, 'steps');
  await updateCopy(node, new DyingFolder(copy.path, at), everything);
  const expected = await contents(node.folder);
  // The update had begun: a block is half written, a new file is in its place.
  const begun = join(at, 'begun');
  const changed = (await filesBelow(join(begun, 'complete'), (path) => path.endsWith('.data'))).length;
  assert.equal(changed, 2);
  const disk = await open(join(begun, 'files/disk'), 'r+');
  await disk.write(randomBytes(1000), 0, 1000, 2 * copyBlockBytes);
  await disk.close();
  await rename(join(begun, 'complete/1.data'), join(begun, 'files/new'));
  for (const step of ['named', 'begun']) {
    const next = new CopyFolder(join(at, step));
    assert.equal((await next.read())?.files.length, 2);
    assert.deepEqual(await contents(next.file('.')), expected, step);
    assert.deepEqual((await readdir(next.path)).sort(), ['copy.json', 'files', 'hashes']);
  }
  await isSame();
});

/** Kept as it is when an update has got its name, and nothing is merged. */
class DyingFolder extends CopyFolder {
  readonly #at: string;
  #reads = 0;

  constructor(path: string, at: string) {
    super(path);
    this.#at = at;
  }

  override async read() {
    this.#reads += 1;
    if (this.#reads === 2) for (const step of ['named', 'begun']) await cp(this.path, join(this.#at, step), { recursive: true });
    return super.read();
  }
}
