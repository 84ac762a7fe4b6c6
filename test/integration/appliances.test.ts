/** Appliances over HTTP: the built-in ones and files of a folder, handed out with the symbols of a theme. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { expectFault } from '../support/raw-http.ts';
import { withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
type Appliance = Record<string, unknown>;
const all = (query = '') => client.get<Appliance[]>(`/v2/appliances${query}`);
const list = async (query = '') => (await all(query)).filter(({ builtin }) => builtin !== true);

interface Image {
  filename: string;
  md5sum: string;
  filesize: number;
  version: string;
  download_url: string;
}

/** Settings of a template that GNS3's desktop client makes of a section. */
function settingsOf(appliance: Appliance): Record<string, unknown> {
  const { qemu, docker, dynamips } = appliance as Record<string, Record<string, unknown> | undefined>;
  const [version] = (appliance.versions as { images: Record<string, string> }[] | undefined) ?? [];
  const { arch, kvm: _kvm, ...machine } = qemu ?? {};
  const section = qemu ? { ...machine, platform: arch, ...version?.images } : { ...docker, ...dynamips, ...version?.images };
  const naming = Object.fromEntries(
    ['first_port_name', 'port_name_format', 'port_segment_size'].flatMap((key) =>
      key in appliance ? [[key, appliance[key]]] : [],
    ),
  );
  return { ...section, ...naming };
}

test('at least 60 are built in: each has its sources, and a template can be made of it', async () => {
  const builtIn = (await all()).filter(({ builtin }) => builtin === true);
  assert.ok(builtIn.length >= 60, `${builtIn.length}`);
  assert.equal(new Set(builtIn.map(({ name }) => name)).size, builtIn.length);
  const known = new Set((await client.get<{ symbol_id: string }[]>('/v2/symbols')).map(({ symbol_id }) => symbol_id));
  for (const appliance of builtIn) {
    const name = String(appliance.name);
    for (const key of ['vendor_url', 'product_url']) assert.match(String(appliance[key]), /^https?:\/\/\S+$/, `${key} of ${name}`);
    for (const key of [
      'description',
      'vendor_name',
      'product_name',
      'status',
      'maintainer',
      'maintainer_email',
      'registry_version',
    ])
      assert.ok(appliance[key], `${name} has no ${key}`);
    assert.ok(known.has(String(appliance.symbol)), name);
    const images = (appliance.images ?? []) as Image[];
    for (const { md5sum, filesize, version, download_url } of images) {
      assert.match(md5sum, /^[0-9a-f]{32}$/, name);
      assert.ok(Number.isInteger(filesize) && filesize > 0 && version !== '', name);
      assert.match(download_url, /^https?:\/\//, name);
    }
    const files = new Set(images.map(({ filename }) => filename));
    for (const version of (appliance.versions ?? []) as { images: Record<string, string> }[])
      for (const file of Object.values(version.images)) assert.ok(files.has(file), `${file} of ${name}`);
    const types = ['qemu', 'docker', 'dynamips'].filter((type) => type in appliance);
    assert.equal(types.length, 1, name);
    const { category } = appliance as { category: string };
    const body = { name, template_type: types[0], compute_id: 'local', category, ...settingsOf(appliance) };
    if (category === 'multilayer_switch') body.category = 'switch';
    await client.post('/v2/templates', body);
  }
});

test('those of users stand in a folder and its subfolders; hostile files are left out', async () => {
  assert.deepEqual(await list(), []);
  const folder = join(server.dataDir, 'appliances');
  await mkdir(folder);
  const files: Record<string, unknown> = {
    'a.gns3a': { appliance_id: 'x', name: 'A', category: 'router', qemu: { ram: 1 }, images: [{ filename: 'a' }] },
    'b.gns3appliance': { name: 'B', category: 'guest', docker: {}, symbol: ':/symbols/other.svg' },
    'c.gns3a': { name: 'C', category: 'guest', qemu: {}, symbol: 'own.svg' },
    'd.gns3a': { name: 'D', category: 'firewall', status: 'broken' },
    'e.gns3a': { name: 'E', category: '__proto__', status: 'stable' },
    'f.json': { name: 'F', category: 'router' },
    '.g.gns3a': { name: 'G', category: 'router' },
    'h.gns3a': ['H'],
    'k.gns3a': { category: 'router' },
    'l.gns3a': { name: { toString: 'L' } },
    'n.gns3a': { name: 'N', deep: JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`) },
    'o.gns3a': { name: 'O', long: 'x'.repeat(600_000) },
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(content));
  await writeFile(join(folder, 'i.gns3a'), '{"name":');
  await mkdir(join(folder, 'j.gns3a'));
  await promisify(execFile)('mkfifo', [join(folder, 'm.gns3a')]);
  await symlink('/dev/zero', join(folder, 'p.gns3a'));
  await mkdir(join(folder, 'mine/more'), { recursive: true });
  await writeFile(join(folder, 'mine/more/q.gns3a'), JSON.stringify({ name: 'Q', category: 'router' }));
  // The file takes the place of the built-in appliance.
  await writeFile(
    join(folder, 'mine/alpine-linux.gns3a'),
    JSON.stringify({ name: 'Alpine of mine', category: 'guest', docker: {} }),
  );
  assert.deepEqual(await list(), [
    {
      name: 'A',
      category: 'router',
      qemu: { ram: 1 },
      images: [{ filename: 'a' }],
      builtin: false,
      symbol: ':/symbols/classic/router.svg',
    },
    { name: 'Alpine of mine', category: 'guest', docker: {}, builtin: false, symbol: ':/symbols/classic/docker_guest.svg' },
    { name: 'B', category: 'guest', docker: {}, builtin: false, symbol: ':/symbols/classic/docker_guest.svg' },
    { name: 'C', category: 'guest', qemu: {}, builtin: false, symbol: 'own.svg' },
    { name: 'E', category: '__proto__', status: 'stable', builtin: false, symbol: ':/symbols/classic/computer.svg' },
    { name: 'Q', category: 'router', builtin: false, symbol: ':/symbols/classic/router.svg' },
  ]);
  const red = await list('?symbol_theme=Affinity-circle-red&update=no');
  assert.ok(!(await all()).some(({ name }) => name === 'Alpine Linux'));
  assert.match(server.log(), /the appliance \S+k\.gns3a was left out: it has no name/);
  assert.equal(red[0]?.symbol, ':/symbols/affinity/circle/red/router.svg');
});

test('a missing appliance is an error', async () => {
  for (const theme of ['None', '__proto__', 'toString'])
    expectFault(await client.send(`GET /v2/appliances?symbol_theme=${theme}`), 404, /Classic/);
  expectFault(await client.send('GET /v2/appliances?update=yes'), 409, /appliances/);
});
