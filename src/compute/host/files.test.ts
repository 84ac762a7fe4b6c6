import assert from 'node:assert/strict';
import { access, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { isSpecial, listInterfaces } from '../../emulators/port-processes/interfaces.ts';
import type { Settings } from '../../schema/settings.ts';
import { makeFolder, placeFor, removeFolder } from '../projects/project-folder.ts';
import { listFiles, readProjectFile, writeProjectFile } from './files.ts';
import { HostFigures } from './host-figures.ts';

let root: string;
let project: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'patchbay-files-'));
  project = join(root, 'project');
  await mkdir(project);
  await writeFile(join(root, 'secret'), 'secret');
  await symlink(root, join(project, 'way-out'));
});
after(() => rm(root, { recursive: true }));

const place = () => ({ path: project, whileThere: <T>(fn: () => Promise<T>) => fn() });
const write = (path: string, content: string) => writeProjectFile(place(), path, Readable.from([Buffer.from(content)]));
const read = async (path: string) => text((await readProjectFile(project, path)).source as Readable);

describe('files of a project', () => {
  it('are written, read and listed', async () => {
    await write('a/b.txt', 'hi');
    assert.equal(await read('a/b.txt'), 'hi');
    await write('a/b.txt', '');
    await write('a/c.ghost', 'left out');
    assert.deepEqual(await listFiles(project), [{ path: 'a/b.txt', md5sum: 'd41d8cd98f00b204e9800998ecf8427e' }]);
  });

  it('do not point outside', async () => {
    for (const path of ['../secret', 'way-out/secret', 'a/../../secret', '.', '', 'a/\0', '..', '/../secret']) {
      await assert.rejects(read(path), { code: 'path_forbidden' }, path);
      await assert.rejects(write(path, 'x'), { code: 'path_forbidden' }, path);
    }
    assert.equal(await readFile(join(root, 'secret'), 'utf8'), 'secret');
  });

  it('are never the saved memory of a machine, also by a link', async () => {
    const node = 'project-files/qemu/11111111-1111-4111-8111-111111111111';
    await write(`${node}/notes.txt`, 'x');
    await mkdir(join(project, node, 'saved-memory'));
    await symlink(join(node, 'saved-memory'), join(project, 'notes'));
    for (const path of [
      `${node}/saved-memory/state`,
      `${node}/x/../saved-memory/ram`,
      `${node}/saved-memory`,
      'notes/manifest.json',
    ])
      await assert.rejects(write(path, 'x'), { code: 'path_forbidden', message: /memory of machines/ }, path);
    assert.deepEqual(await readdir(join(project, node, 'saved-memory')), []);
    await Promise.all(['project-files', 'notes'].map((name) => rm(join(project, name), { recursive: true })));
  });

  it('are refused with the reason', async () => {
    await assert.rejects(read('none'), { code: 'file_not_found' });
    await assert.rejects(read('a'), { code: 'path_forbidden' });
    await assert.rejects(write('a', 'x'), { code: 'path_forbidden' });
  });

  it('stay as they were when an upload breaks off', async () => {
    await write('kept', 'old');
    const broken = new Readable({ read() {} });
    broken.push('half');
    const writing = writeProjectFile(place(), 'kept', broken);
    broken.destroy(new Error('gone'));
    await assert.rejects(writing);
    assert.equal(await read('kept'), 'old');
    assert.deepEqual(
      (await readdir(project)).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });
});

describe('folders of projects', () => {
  const settings = (local: boolean) =>
    ({ dataDirectory: join(root, 'data'), Server: { local, projects_path: join(root, 'data', 'projects') } }) as Settings;

  it('stand where they may', async () => {
    assert.equal(await placeFor(settings(false), 'id'), join(root, 'data', 'projects', 'id'));
    assert.equal(await placeFor(settings(true), 'id', join(root, 'x')), join(root, 'x'));
    for (const path of [join(root, 'x'), join(root, 'data', 'projects-x'), join(root, 'data', 'projects')]) {
      await assert.rejects(placeFor(settings(false), 'id', path), { code: 'path_forbidden' });
    }
    for (const path of ['/', root, join(root, 'data'), 'relative', `${root}/x/..`]) {
      await assert.rejects(placeFor(settings(true), 'id', path), { code: 'path_forbidden' }, path);
    }
  });

  it('are removed as a whole only when they are a project’s own', async () => {
    const foreign = join(root, 'foreign');
    await mkdir(join(foreign, 'photos'), { recursive: true });
    const owned = await makeFolder(foreign);
    assert.equal(owned, false);
    await mkdir(join(foreign, 'project-files'));
    const record = { name: 'p', project_id: '1', variables: null };
    await removeFolder({ ...record, path: foreign, owned });
    assert.deepEqual(await readdir(foreign), ['photos']);
    const fresh = join(root, 'fresh');
    assert.equal(await makeFolder(fresh), true);
    await removeFolder({ ...record, path: fresh, owned: true });
    await assert.rejects(access(fresh));
  });
});

describe('this host', () => {
  it('has figures', async () => {
    const figures = await new HostFigures(root).all();
    assert.ok(figures.memory_total > figures.memory_used && figures.memory_used > 0);
    assert.equal(figures.load_average_percent.length, 3);
    for (const [name, value] of Object.entries(figures)) {
      assert.ok(
        [value].flat().every((number) => Number.isInteger(number) && number >= 0),
        name,
      );
    }
    assert.ok(figures.disk_usage_percent <= 100);
  });

  it('has interfaces', async () => {
    const [loopback] = (await listInterfaces('')).filter(({ name }) => name === 'lo');
    assert.deepEqual([loopback?.ip_address, loopback?.special, loopback?.type], ['127.0.0.1', true, 'ethernet']);
    assert.deepEqual(await listInterfaces('nothing'), []);
    assert.deepEqual(['eth0', 'wlan', 'br-nic', 'veth1'].map(isSpecial), [false, false, true, true]);
  });
});
