import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { RegisteredCompute } from '../computes/compute.ts';
import { fetchFolders } from './remote-files.ts';

test('a compute sends files of the wanted nodes, and nothing beside their folders', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-files-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'lab.gns3'), 'its own');
  const own = 'project-files/vpcs/n1/startup.vpc';
  const files = [
    own,
    'project-files/vpcs/n2/startup.vpc',
    'project-files/vpcs/n1/../../../lab.gns3',
    'project-files/../n1/x',
    'project-files/vpcs/n1/../../../../x',
    '../x',
  ];
  const transport = {
    call: async () => files.map((path) => ({ path, md5sum: '' })),
    raw: async () => ({ status: 200, body: 'sent' }),
  };
  const compute = { transport } as unknown as RegisteredCompute;
  await fetchFolders({ compute, projectId: 'p', nodes: ['n1'] }, folder);
  assert.equal(await readFile(join(folder, 'lab.gns3'), 'utf8'), 'its own');
  assert.equal(await readFile(join(folder, own), 'utf8'), 'sent');
  assert.deepEqual((await readdir(folder)).sort(), ['lab.gns3', 'project-files']);
  assert.deepEqual(await readdir(join(folder, 'project-files')), ['vpcs']);
});

test('a compute that sends without end does not fill the disk, and leaves no file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-files-'));
  t.after(() => rm(folder, { recursive: true }));
  let asked = 0;
  const endless = () =>
    new Readable({
      read() {
        asked += 1;
      },
    });
  const transport = {
    call: async () => [{ path: 'project-files/qemu/n1/disk', md5sum: '' }],
    raw: async () => ({ status: 200, body: endless() }),
  };
  const compute = { transport } as unknown as RegisteredCompute;
  const fetching = fetchFolders({ compute, projectId: 'p', nodes: ['n1'], floorBytes: 2 ** 62 }, folder);
  await assert.rejects(fetching, { name: 'DiskFloorError' });
  assert.equal(asked, 0);
  assert.deepEqual(await readdir(join(folder, 'project-files/qemu/n1')), []);
});
