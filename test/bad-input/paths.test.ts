/** Tricks in every string that becomes a path: nothing outside the folders of the server may be read, made or changed. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { expectFault, type Reply } from '../support/raw-http.ts';
import { freshName, withServer } from '../support/with-server.ts';
import { withFixture, worldOf } from './fixture.ts';

const bench = await withServer();
const fixture = await withFixture(bench);
const secret = 'the canary sings';
let canary: string;
let folder: string;

before(async () => {
  canary = join(bench.server.dataDir, 'canary.txt');
  folder = join(bench.server.dataDir, 'projects', fixture.project.id);
  await writeFile(canary, secret);
  const node = join(folder, 'project-files', 'vpcs', fixture.ids.node_id as string);
  const images = join(bench.server.dataDir, 'images', 'QEMU');
  for (const place of [folder, node, images]) {
    await mkdir(place, { recursive: true });
    await symlink(bench.server.dataDir, join(place, 'out'));
    // A link to a file among the images is how people share large images; no request can make one.
    if (place !== images) await symlink(canary, join(place, 'canary.link'));
  }
});

/** Names in folders that no request of these tests may add to. */
async function surroundings(): Promise<unknown> {
  const names = async (path: string) => (await readdir(path)).filter((name) => !/^(test-config|.*\.log)/.test(name)).sort();
  const { dataDir } = bench.server;
  return {
    canary: await readFile(canary, 'utf8'),
    data: await names(dataDir),
    projects: await names(join(dataDir, 'projects')),
    etc: await names('/etc'),
  };
}

function unharmed(reply: Reply): void {
  assert.ok(reply.status < 500, `${reply.request.slice(0, 120)}: ${reply.status} ${reply.text().slice(0, 300)}`);
  assert.ok(!reply.text().includes(secret), `${reply.request} shows a file outside of the folder`);
  assert.ok(!reply.text().includes('root:x:0'), `${reply.request} shows /etc/passwd`);
}

/** Relative to a folder: paths outside of it, percent-encoded as a path needs it. */
const outsidePaths = [
  '../canary.txt',
  '../../canary.txt',
  '../../../canary.txt',
  '../../../../../canary.txt',
  '%2e%2e/%2e%2e/canary.txt',
  '%2e%2e%2f%2e%2e%2fcanary.txt',
  '..%2f..%2f..%2fcanary.txt',
  '..%5c..%5ccanary.txt',
  'a/../../../canary.txt',
  'a/b/c/../../../../../../canary.txt',
  './../../canary.txt',
  '/etc/passwd',
  '%2fetc%2fpasswd',
  '%2Fetc/passwd',
  '//etc/passwd',
  'out/canary.txt',
  'out/new.txt',
  'canary.link',
  'a%00.txt',
  '%00',
  '..',
  '%2e%2e',
  '.',
  '%2e',
  '%ff%fe',
  'x'.repeat(300),
  `${'d/'.repeat(150)}x`,
];

const places: [string, () => string][] = [
  ['files of a project', () => `${fixture.project.path}/files/`],
  ['files of a project on the compute', () => `${fixture.project.computePath}/files/`],
  ['files of a node', () => `${fixture.project.path}/nodes/${fixture.ids.node_id}/files/`],
  ['images', () => '/v2/compute/qemu/images/'],
  ['images through the controller', () => '/v2/computes/local/qemu/images/'],
];

describe('paths in addresses', () => {
  for (const [what, prefix] of places) {
    for (const way of outsidePaths) {
      test(`${what}: ${way.slice(0, 40)}`, async () => {
        const before = await surroundings();
        unharmed(await bench.client.send(`GET ${prefix()}${way}`));
        const written = await bench.client.send(`POST ${prefix()}${way}`, { raw: 'written by a test' });
        unharmed(written);
        if (written.status >= 400 && written.headers['content-type'] === 'application/json') expectFault(written, written.status);
        assert.deepEqual(await surroundings(), before);
      });
    }
  }

  test('a path outside of the folder is answered with 403', async () => {
    for (const way of ['%2e%2e/%2e%2e/canary.txt', '..%2f..%2fcanary.txt', 'out/canary.txt', 'canary.link']) {
      expectFault(await bench.client.send(`GET ${fixture.project.computePath}/files/${way}`), 403);
      expectFault(await bench.client.send(`POST ${fixture.project.computePath}/files/${way}`, { raw: 'x' }), 403);
    }
  });
});

/** Tricky paths as text of a field. */
const tricks = [
  '..',
  '.',
  '../x',
  '../../x',
  '/etc/x',
  'a/b',
  'a/../../x',
  '~',
  '~/x',
  'a\u0000b',
  `${'x'.repeat(300)}`,
  'a\nb',
  '\\..\\x',
  '%2e%2e%2fx',
  'CON',
  '-rf',
  '$HOME',
  ' ',
];

describe('names that become files', () => {
  const fields: [string, (trick: string) => [string, Record<string, unknown>]][] = [
    ['name of a project', (name) => ['POST /v2/projects', { name }]],
    ['name of a copy', (name) => [`POST ${fixture.project.path}/duplicate`, { name }]],
    ['name of a snapshot', (name) => [`POST ${fixture.project.path}/snapshots`, { name }]],
    ['name of a node', (name) => [`POST ${fixture.project.path}/nodes`, { name, node_type: 'vpcs', compute_id: 'local' }]],
    [
      'capture file',
      (name) => [`POST ${fixture.project.path}/links/${fixture.ids.link_id}/start_capture`, { capture_file_name: name }],
    ],
    ['symbol', (symbol) => [`PUT ${fixture.project.path}/nodes/${fixture.ids.node_id}`, { symbol }]],
    ['text of a drawing', (svg) => [`POST ${fixture.project.path}/drawings`, { svg }]],
    [
      'startup script file',
      (base_script_file) => [
        `POST ${fixture.project.path}/nodes`,
        { name: freshName('n'), node_type: 'vpcs', compute_id: 'local', properties: { base_script_file } },
      ],
    ],
    ['logo of the supplier', (logo) => [`PUT ${fixture.project.path}`, { supplier: { logo } }]],
  ];
  for (const [what, request] of fields) {
    test(what, async () => {
      const { etc, canary: song } = (await surroundings()) as { etc: unknown; canary: string };
      for (const trick of tricks) {
        const [line, body] = request(trick);
        const reply = await bench.client.send(line, { body });
        unharmed(reply);
        if (reply.status >= 400 && reply.headers['content-type'] === 'application/json') expectFault(reply, reply.status);
        const made = reply.status === 201 ? reply.json() : {};
        if (typeof made.path === 'string') assert.equal(dirname(made.path), join(bench.server.dataDir, 'projects'), trick);
        if (typeof made.filename === 'string') assert.ok(!made.filename.includes('/'), trick);
      }
      const after = (await surroundings()) as { etc: unknown; canary: string };
      assert.deepEqual([after.etc, after.canary], [etc, song]);
    });
  }
});

describe('paths in bodies', () => {
  const load = [
    '/nowhere/x.gns3',
    '/etc/passwd',
    '/etc',
    '/dev/zero',
    '/dev/null',
    '/proc/self/mem',
    'x.gns3',
    '../x.gns3',
    'a\u0000b',
    '',
  ];
  test('load: a file that is not a project file is refused, and nothing is listed', async () => {
    const before = await worldOf(bench, fixture);
    for (const path of load) {
      const reply = await bench.client.send('POST /v2/projects/load', { body: { path } });
      if (reply.headers['x-route'] === undefined) return;
      expectFault(reply, [400, 403, 404, 409]);
      unharmed(reply);
    }
    const missing = await bench.client.send('POST /v2/projects/load', { body: { path: '/nowhere/x.gns3' } });
    expectFault(missing, 409, /There is no project file \/nowhere\/x\.gns3\. Correct the path/);
    assert.deepEqual(await worldOf(bench, fixture), before);
  });

  test('path of a project: what cannot be one is refused', async () => {
    const before = await worldOf(bench, fixture);
    const file = join(bench.server.dataDir, 'canary.txt');
    for (const path of [file, `${file}/below`, 'a\u0000b', 'with"quote', folder, '', `/tmp/${'x'.repeat(300)}`]) {
      expectFault(await bench.client.send('POST /v2/projects', { body: { name: freshName('p'), path } }), [400, 403, 409]);
    }
    assert.deepEqual(await worldOf(bench, fixture), before);
  });

  test('images of a node: a path outside of the folders is answered with 409, and is not read', async () => {
    const before = await worldOf(bench, fixture);
    for (const image of [
      '../../canary.txt',
      '../../../../../etc/passwd',
      'out/none.img',
      '..',
      '/',
      'a\u0000b',
      'x'.repeat(300),
      '/nowhere.img',
    ]) {
      for (const key of ['hda_disk_image', 'cdrom_image', 'kernel_image', 'initrd', 'bios_image']) {
        const reply = await bench.client.send(`POST ${fixture.project.computePath}/qemu/nodes`, {
          body: { name: 'x', [key]: image },
        });
        expectFault(reply, [400, 403, 409]);
        unharmed(reply);
      }
    }
    assert.deepEqual(await worldOf(bench, fixture), before);
  });

  test('/qemu/img runs nothing but qemu-img, and writes nowhere else', async () => {
    const before = await surroundings();
    const good = { qemu_img: 'qemu-img', path: 'x.img', format: 'raw', size: 1 };
    for (const qemu_img of [
      'touch',
      '/usr/bin/touch',
      '/bin/sh',
      '../../bin/sh',
      './qemu-img',
      'qemu-img;touch',
      '/tmp/qemu-img',
      'qemu-system-x86_64',
    ]) {
      expectFault(await bench.client.send('POST /v2/compute/qemu/img', { body: { ...good, qemu_img } }), [400, 403, 409]);
      expectFault(
        await bench.client.send('PUT /v2/compute/qemu/img', { body: { qemu_img, path: 'x.img', extend: 1 } }),
        [400, 403, 409],
      );
    }
    for (const path of [
      '../canary.txt',
      '../../canary.txt',
      '..',
      '.',
      '/',
      'a\u0000b',
      'x'.repeat(300),
      canary,
      'out/x.img',
      '-o',
    ]) {
      unharmed(await bench.client.send('POST /v2/compute/qemu/img', { body: { ...good, path } }));
    }
    assert.deepEqual(await surroundings(), before);
  });
});
