import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { Checksums } from '../../emulators/host/checksums.ts';
import { ImageStore } from '../../emulators/host/images.ts';
import { qemuImages } from '../../emulators/qemu/kind.ts';
import { defaultSettings } from '../../schema/settings.ts';
import { ImageArrivals, mostArrivals, removeAbandoned } from './image-arrivals.ts';

let root: string;
let store: ImageStore;
let arrivals: ImageArrivals;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pb-arrivals-'));
  const sections = defaultSettings();
  sections.Server.images_path = join(root, 'images');
  store = new ImageStore(() => ({ ...sections, dataDirectory: root, runtimeDirectory: root }));
  arrivals = new ImageArrivals(store.checksums);
});
afterEach(async () => {
  await store.close();
  await rm(root, { recursive: true });
});

const images = () => store.of(qemuImages);
const place = (name: string) => join(root, 'images/QEMU', name);
const names = () => readdir(join(root, 'images/QEMU'));
const expected = (filename: string, content: Buffer) => ({
  filename,
  filesize: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
});
const append = (id: string, content: Buffer) => arrivals.append(id, 0, Readable.from([content]));

test('an empty image arrives where there is no folder yet', async () => {
  const { arrival_id } = await arrivals.begin(images(), expected('empty.img', Buffer.alloc(0)));
  assert.equal(await arrivals.finish(arrival_id), true);
  assert.ok((await names()).includes('empty.img'));
});

test('what lies in the place of the bytes and is no file is removed, and no link is followed', async () => {
  const content = Buffer.from('an image file');
  const image = expected('a.img', content);
  const partial = place(`.${image.sha256}.arriving`);
  await mkdir(join(partial, 'deep'), { recursive: true });
  assert.equal((await arrivals.begin(images(), image)).received, 0);
  await writeFile(join(root, 'other'), 'other');
  const { arrival_id } = await arrivals.begin(images(), image);
  await symlink(join(root, 'other'), partial);
  await assert.rejects(append(arrival_id, content));
  assert.equal(await readFile(join(root, 'other'), 'utf8'), 'other');
  await arrivals.begin(images(), image);
  await append(arrival_id, content);
  assert.equal(await arrivals.finish(arrival_id), true);
  assert.deepEqual(await readFile(place('a.img')), content);
});

test('bytes that are right are kept when they cannot be summed; those of an image that is refused are not', async () => {
  const content = Buffer.from('an image file');
  const image = expected('a.img', content);
  // The sum is missing, as when the server ends meanwhile.
  const ending = new ImageArrivals(
    new (class extends Checksums {
      override sha256 = async () => null;
    })(),
  );
  const early = await ending.begin(images(), image);
  await ending.append(early.arrival_id, 0, Readable.from([content]));
  await assert.rejects(ending.finish(early.arrival_id), (error) => isFault(error, 'storage_failed'));
  const { arrival_id, received } = await arrivals.begin(images(), image);
  assert.equal(received, content.length);
  assert.equal(await arrivals.finish(arrival_id), true);

  const foreign = qcow2Of('/etc/hostname');
  const refused = await arrivals.begin(images(), expected('foreign.qcow2', foreign));
  await append(refused.arrival_id, foreign);
  await assert.rejects(arrivals.finish(refused.arrival_id), (error) => isFault(error, 'image_refused'));
  assert.deepEqual((await names()).sort(), ['a.img', 'a.img.md5sum']);
});

test('of too many unfinished transfers the one that was used longest ago is forgotten, and continues when it begins again', async () => {
  const content = Buffer.from('an image file');
  const image = expected('a.img', content);
  const first = await arrivals.begin(images(), image);
  await append(first.arrival_id, content.subarray(0, 5));
  for (let count = 0; count < mostArrivals; count++) {
    const sha256 = count.toString(16).padStart(64, '0');
    await arrivals.begin(images(), { filename: `${count}.img`, filesize: 10, sha256 });
  }
  const continued = () => arrivals.append(first.arrival_id, 5, Readable.from([content.subarray(5)]));
  await assert.rejects(continued(), (error) => isFault(error, 'image_transfer_missing'));
  const again = await arrivals.begin(images(), image);
  assert.equal(again.received, 5);
  await arrivals.append(again.arrival_id, 5, Readable.from([content.subarray(5)]));
  assert.equal(await arrivals.finish(again.arrival_id), true);
});

test('what has not grown for a week is removed', async () => {
  await mkdir(place('.'), { recursive: true });
  for (const name of ['.old.arriving', '.new.arriving', 'old.img']) await writeFile(place(name), name);
  for (const name of ['.old.arriving', 'old.img']) await utimes(place(name), 1, 1);
  await removeAbandoned(place('.'));
  assert.deepEqual((await names()).sort(), ['.new.arriving', 'old.img']);
});

/** The header of a qcow2 image (version 2) with a backing file. */
function qcow2Of(backing: string): Buffer {
  const header = Buffer.alloc(512);
  header.write('QFI\xfb', 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeBigUInt64BE(72n, 8);
  header.writeUInt32BE(backing.length, 16);
  header.writeUInt32BE(16, 20);
  header.writeBigUInt64BE(1n << 20n, 24);
  header.write(backing, 72);
  return header;
}
