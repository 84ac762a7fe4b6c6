/** Appliances over HTTP: files of a folder, handed out with the symbols of a theme. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const list = (query = '') => client.get<Record<string, unknown>[]>(`/v2/appliances${query}`);

test('there are none until there are files', async () => {
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
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(content));
  await writeFile(join(folder, 'i.gns3a'), '{"name":');
  await mkdir(join(folder, 'j.gns3a'));
  assert.deepEqual(await list(), [
    {
      name: 'A',
      category: 'router',
      qemu: { ram: 1 },
      images: [{ filename: 'a' }],
      builtin: false,
      symbol: ':/symbols/classic/router.svg',
    },
    { name: 'B', category: 'guest', docker: {}, builtin: false, symbol: ':/symbols/classic/docker_guest.svg' },
    { name: 'C', category: 'guest', qemu: {}, builtin: false, symbol: 'own.svg' },
    { name: 'E', category: '__proto__', status: 'stable', builtin: false, symbol: ':/symbols/classic/computer.svg' },
  ]);
  const red = await list('?symbol_theme=Affinity-circle-red&update=no');
  assert.equal(red[0]?.symbol, ':/symbols/affinity/circle/red/router.svg');
});

test('a missing appliance is an error', async () => {
  for (const theme of ['None', '__proto__', 'toString'])
    expectFault(await client.send(`GET /v2/appliances?symbol_theme=${theme}`), 404, /Classic/);
  expectFault(await client.send('GET /v2/appliances?update=yes'), 409, /appliances/);
});
