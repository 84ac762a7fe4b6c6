import assert from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, it } from 'node:test';
import { openPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { FreshIds } from '../model/fresh-ids.ts';
import { renewSnapshots } from './renew-snapshots.ts';

const kept = '11111111-1111-4111-8111-111111111111';
const gone = '22222222-2222-4222-8222-222222222222';
const old = '33333333-3333-4333-8333-333333333333';
const project = {
  name: 'source',
  project_id: old,
  topology: {
    nodes: [
      { node_id: kept, properties: { mac_address: '0c:11:11:11:00:00', ram: 64 } },
      { node_id: gone, properties: {} },
    ],
    links: [{ link_id: 'l', nodes: [{ node_id: kept }, { node_id: gone }] }],
    drawings: [{ drawing_id: 'd' }],
  },
};

async function entriesOf(path: string): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false });
  for await (const entry of zip.eachEntry())
    entries.set(entry.fileName, (await buffer(await zip.openReadStreamPromise(entry))).toString());
  zip.close();
  return entries;
}

describe('snapshots of a copy', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-snapshots-'));
    const zip = new ZipFile();
    zip.addBuffer(Buffer.from('disk'), `project-files/qemu/${gone}/hda_disk.qcow2`, { compress: false });
    zip.addBuffer(Buffer.from(JSON.stringify(project)), 'project.gns3', { compress: true });
    zip.addBuffer(Buffer.from('script'), `project-files/vpcs/${kept}/startup.vpc`, { compress: true });
    zip.end();
    await pipeline(zip.outputStream, createWriteStream(join(folder, 'first.gns3snapshot')));
    await writeFile(join(folder, 'snapshots.conf'), JSON.stringify([{ snapshot_id: old, project_id: old, name: 'first' }]));
  });
  after(() => rm(folder, { recursive: true }));

  it('get the ids of the copy, in the project file, the names and the index', async () => {
    const ids = new FreshIds();
    const known = ids.get(kept);
    const projectId = '44444444-4444-4444-8444-444444444444';
    await renewSnapshots(folder, { projectId, name: 'copy', ids, resetMacAddresses: true });

    const entries = await entriesOf(join(folder, 'first.gns3snapshot'));
    const renewed = JSON.parse(entries.get('project.gns3') ?? '') as typeof project;
    assert.equal(renewed.name, 'copy');
    assert.equal(renewed.project_id, projectId);
    assert.deepEqual(
      renewed.topology.nodes.map((node) => node.node_id),
      [known, ids.find(gone)],
    );
    assert.deepEqual(renewed.topology.nodes[0]?.properties, { mac_address: null, ram: 64 });
    assert.deepEqual(
      renewed.topology.links[0]?.nodes.map((end) => end.node_id),
      [known, ids.find(gone)],
    );
    assert.equal(entries.get(`project-files/vpcs/${known}/startup.vpc`), 'script');
    assert.equal(entries.get(`project-files/qemu/${ids.find(gone)}/hda_disk.qcow2`), 'disk');
    assert.equal(entries.size, 3);
    const index = JSON.parse(await readFile(join(folder, 'snapshots.conf'), 'utf8')) as {
      snapshot_id: string;
      project_id: string;
      name: string;
    }[];
    assert.equal(index[0]?.project_id, projectId);
    assert.notEqual(index[0]?.snapshot_id, old);
    assert.equal(index[0]?.name, 'first');
  });
});
