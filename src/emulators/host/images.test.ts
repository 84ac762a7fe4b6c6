import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, afterEach, beforeEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type FaultCode, isFault } from '../../api/faults.ts';
import { defaultSettings, type Settings } from '../../schema/settings.ts';
import { qemuImages } from '../qemu/kind.ts';
import { ImageStore } from './images.ts';

let folder: string;
let store: ImageStore;
let settings: Settings;
const made: string[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-images-'));
  made.push(folder);
  const sections = defaultSettings();
  sections.Server.images_path = join(folder, 'images');
  sections.Server.additional_images_path = join(folder, 'more');
  settings = { ...sections, dataDirectory: folder, runtimeDirectory: folder };
  store = new ImageStore(() => settings);
});
afterEach(() => store.close());
after(async () => {
  for (const path of made) await rm(path, { recursive: true });
});

const images = () => store.of(qemuImages);
const local = (value: boolean) => {
  settings = { ...settings, Server: { ...settings.Server, local: value } };
};
async function put(path: string, content = 'an image file'): Promise<string> {
  const full = join(folder, path);
  await mkdir(join(full, '..'), { recursive: true });
  await writeFile(full, content);
  return full;
}
const is = (code: FaultCode) => (error: unknown) => isFault(error, code);
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

test('a name is looked for in every image folder, in order', async () => {
  const own = await put('images/QEMU/a.img');
  await put('more/a.img');
  const deep = await put('more/deep/b.img');
  const other = await put('images/IOS/c.img');
  const project = await put('project/d.img');
  await put('project/project-files/qemu/1/e.img');
  assert.equal(await images().resolve('a.img'), own);
  assert.equal(await images().resolve('b.img'), deep);
  assert.equal(await images().resolve('deep/b.img'), deep);
  assert.equal(await images().resolve('c.img'), other);
  assert.equal(await images().resolve('d.img', join(folder, 'project')), project);
  for (const name of ['e.img', 'deep/a.img', '../more/a.img', 'QEMU', '.', '', 'a\0.img']) {
    await assert.rejects(images().resolve(name, join(folder, 'project')), is('image_missing'), JSON.stringify(name));
  }
});

test('paths: anywhere for a local server, image folders only otherwise', async () => {
  const outside = await put('outside.img');
  const inside = await put('images/QEMU/in.img');
  await put('images/QEMU-x/trick.img');
  assert.equal(await images().resolve(outside), outside);
  await assert.rejects(images().resolve(join(folder, 'gone.img')), is('image_missing'));
  await assert.rejects(images().resolve('C:\\x.img'), is('image_not_allowed'));
  local(false);
  assert.equal(await images().resolve(inside), inside);
  await assert.rejects(images().resolve(outside), is('image_not_allowed'));
  await assert.rejects(images().resolve('/etc/passwd'), is('image_not_allowed'));
  await assert.rejects(images().resolve('/etc/no-such-file'), is('image_not_allowed'));
  await assert.rejects(images().resolve(join(folder, 'images/QEMU/../../outside.img')), is('image_not_allowed'));
  await assert.rejects(images().resolve(join(folder, 'images/QEMU/gone.img')), is('image_missing'));
});

test('folders are compared by components, and after links were followed', async () => {
  settings = { ...settings, Server: { ...settings.Server, images_path: join(folder, 'images', 'QEMU', 'sub') } };
  await mkdir(join(folder, 'images/QEMU/sub/QEMU'), { recursive: true });
  const sibling = await put('images/QEMU/sub-x/trick.img');
  const secret = await put('secret.img');
  await symlink(secret, join(folder, 'images/QEMU/sub/QEMU/link.img'));
  assert.equal(await images().resolve('link.img'), join(folder, 'images/QEMU/sub/QEMU/link.img'));
  local(false);
  await assert.rejects(images().resolve('link.img'), is('image_not_allowed'));
  await assert.rejects(images().resolve(sibling), is('image_not_allowed'));
});

test('shown paths are relative where a client can use them again', async () => {
  const folderOf = images();
  assert.equal(folderOf.display(join(folder, 'images/QEMU/sub/a.img')), 'sub/a.img');
  assert.equal(folderOf.display(join(folder, 'more/b.img')), 'b.img');
  assert.equal(folderOf.display(join(folder, 'more/deep/b.img')), join(folder, 'more/deep/b.img'));
  assert.equal(folderOf.display('/elsewhere/b.img'), '/elsewhere/b.img');
});

test('sums: computed once, kept beside the image, renewed when it changes', async () => {
  const path = await put('images/QEMU/a.img', 'first');
  assert.equal(await images().accept('a.img'), 'a.img');
  assert.equal(images().md5('a.img'), md5('first'));
  const side = `${path}.md5sum`;
  for (let tries = 0; (await readFile(side, 'utf8').catch(() => '')) !== md5('first'); tries++) assert.ok(tries < 1000);
  await writeFile(path, 'second');
  const later = new Date(Date.now() + 5000);
  await utimes(path, later, later);
  await images().accept('a.img');
  assert.equal(images().md5('a.img'), md5('second'));
  // Another server's sum is taken when it is at least as new as the image.
  await put('images/QEMU/b.img');
  await put('images/QEMU/b.img.md5sum', '0'.repeat(32));
  await images().accept('b.img');
  assert.equal(images().md5('b.img'), '0'.repeat(32));
  assert.equal(images().md5('unknown.img'), null);
  assert.equal(images().md5(''), null);
});

test('the sum of an image that was deleted or replaced while it was computed is not kept', async () => {
  await put('images/QEMU/a.img', 'starts the thread');
  await images().accept('a.img');
  const path = await put('images/QEMU/large.img', '');
  await truncate(path, 256 * 2 ** 20);
  const isBeingRead = async () => {
    const links = (await readdir('/proc/self/fd').catch(() => [])).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
    return (await Promise.all(links)).includes(path);
  };
  const summed = async () => {
    const sum = store.checksums.get(path);
    let isDone = false;
    void sum.then(() => {
      isDone = true;
    });
    while (!isDone && !(await isBeingRead())) await setImmediate();
    return { sum };
  };
  const { sum: ofReplaced } = await summed();
  await images().upload('large.img', Readable.from([Buffer.from('another')]));
  assert.equal(await ofReplaced, null);
  assert.equal(await readFile(`${path}.md5sum`, 'utf8'), md5('another'));
  await rm(`${path}.md5sum`);
  await truncate(path, 256 * 2 ** 20);
  const { sum: ofDeleted } = await summed();
  await images().remove('large.img');
  assert.equal(await ofDeleted, null);
  assert.equal(store.checksums.known(path), null);
  assert.deepEqual(await readdir(join(folder, 'images/QEMU')), ['a.img', 'a.img.md5sum']);
});

test('folders that the names of images made go with them, also those of refused uploads', async () => {
  await images().upload('deep/er/a.img', Readable.from([Buffer.from('an image')]));
  await images().upload('deep/b.img', Readable.from([Buffer.from('an image')]));
  await images().remove('deep/er/a.img');
  assert.deepEqual((await readdir(join(folder, 'images/QEMU/deep'))).sort(), ['b.img', 'b.img.md5sum']);
  await images().remove('deep/b.img');
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('an image');
      throw new Error('the client has gone');
    })(),
  );
  await assert.rejects(images().upload('other/deep/c.img', broken));
  assert.deepEqual(await readdir(join(folder, 'images/QEMU')), []);
});

test('the list has every image once, and nothing else', async () => {
  await put('images/QEMU/a.img', 'seven by');
  await put('images/QEMU/sub/b.img', 'seven by');
  await put('more/a.img', 'another!');
  await put('images/.hidden.img', 'seven by');
  await put('images/QEMU/short.img', 'short');
  await put('images/QEMU/half.img.tmp', 'unfinished');
  await put('images/QEMU/made.img.unfinished/made.img', 'unfinished');
  await put('images/QEMU/elf', '\x7fELF program');
  const list = await images().list();
  assert.deepEqual(
    list.map(({ path }) => path),
    ['a.img', 'sub/b.img'],
  );
  assert.deepEqual(list[0], { filename: 'a.img', path: 'a.img', md5sum: md5('seven by'), filesize: 8 });
});

test('an upload is there whole, with its sum; a name that cannot be a file is refused', async () => {
  await images().upload('sub/new.img', Readable.from([Buffer.from('seven '), Buffer.from('bytes')]));
  assert.equal(await readFile(join(folder, 'images/QEMU/sub/new.img'), 'utf8'), 'seven bytes');
  assert.equal((await images().list())[0]?.md5sum, md5('seven bytes'));
  const broken = Readable.from([Buffer.from('x')]).on('data', () => broken.destroy(new Error('gone')));
  await assert.rejects(images().upload('sub/new.img', broken), is('storage_failed'));
  assert.equal(await readFile(join(folder, 'images/QEMU/sub/new.img'), 'utf8'), 'seven bytes');
  for (const name of ['sub', 'sub/new.img/x', 'n'.repeat(300)]) {
    const refused = (error: unknown) => is('path_forbidden')(error) && !(error as Error).message.includes(folder);
    await assert.rejects(images().upload(name, Readable.from([])), refused, name);
  }
});

test('uploads stay in the folder; downloads are plain names', async () => {
  assert.equal(await images().uploadTarget('sub/new.img'), join(folder, 'images/QEMU/sub/new.img'));
  await mkdir(join(folder, 'images/QEMU'), { recursive: true });
  await symlink(folder, join(folder, 'images/QEMU/out'));
  await symlink('/nowhere/at/all', join(folder, 'images/QEMU/dangling'));
  for (const name of ['../x', '/etc/x', 'a/../../x', 'a\0', '', 'sub/', 'out/x', 'dangling/x', '..']) {
    await assert.rejects(images().uploadTarget(name), is('path_forbidden'), JSON.stringify(name));
  }
  for (const name of ['../x', '.hidden', 'a/b', 'a\0'])
    await assert.rejects(images().downloadSource(name), is('path_forbidden'), name);
  await assert.rejects(images().downloadSource('gone.img'), is('image_missing'));
});

test('what a killed server left is removed from all image folders, unless others use them too', async () => {
  const left = ['images/.0123456789ab.tmp', 'images/QEMU/.ba9876543210.tmp', 'images/own/.ba9876543210.tmp'];
  const kept = ['images/a.img', 'images/QEMU/my.tmp', 'more/.0123456789ab.tmp'];
  for (const path of [...left, ...kept]) await utimes(await put(path), 1, 1);
  const present = async () => {
    const all = await readdir(folder, { recursive: true });
    return [...left, ...kept].filter((path) => all.includes(path));
  };
  settings = { ...settings, dataDirectory: join(folder, 'elsewhere') };
  await mkdir(settings.dataDirectory);
  await store.removeLeftovers();
  assert.deepEqual(await present(), [...left, ...kept]);
  settings = { ...settings, dataDirectory: folder };
  await store.removeLeftovers();
  assert.deepEqual(await present(), kept);
});
