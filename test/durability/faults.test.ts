/**
 * Every file below the data directory changed, emptied, removed, or another thing in its place, one at a time: the server starts each
 * time, says the file's name where it can notice, and loses nothing else. `npm test` takes a sample; `PATCHBAY_TEST_FAULTS=all` all, and
 * `PATCHBAY_TEST_FAULTS=TEXT` those whose name, such as `state/captures.log: pipe`, has the text in it.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { createNode, createProject, end } from '../support/with-server.ts';
import { affected, faults, filesOf, isNoticed, resetFolder } from './fault-cases.ts';
import { makeChance } from './random.ts';

/** Number of cases in the sample. */
const sampled = 12;
/** Ids that are the same in each run, so that a seed picks the same cases. */
const projectIds = { open: '11111111-1111-4111-8111-111111111111', closed: '22222222-2222-4222-8222-222222222222' };
/** Reading a pipe would never end. */
const answerLimitMs = 20_000;

const root = await realpath(await mkdtemp(join(tmpdir(), 'pb-faults-')));
const data = join(root, 'data');
const pristine = join(root, 'pristine');
after(() => rm(root, { recursive: true, force: true }));

interface Ids {
  readonly open: string;
  readonly closed: string;
}
let ids: Ids;
let sound: Record<string, string>;

const start = () => startServer({ dataDir: data, config: { Qemu: { acceleration: 'off' } } });

async function build(client: RawClient): Promise<Ids> {
  const [open, closed] = [
    await createProject(client, { name: 'open', project_id: projectIds.open }),
    await createProject(client, { name: 'closed', project_id: projectIds.closed }),
  ];
  for (const project of [open, closed]) {
    const [one, two] = [await createNode(client, project), await createNode(client, project)];
    const link = await client.post(`${project.path}/links`, { nodes: [end(one), end(two)], filters: { latency: [5] } });
    await client.post(`${project.path}/drawings`, { svg: '<svg><rect width="10" height="10"/></svg>' });
    await client.send(`POST ${project.path}/files/README.txt`, { raw: 'notes' });
    await client.post(`${project.path}/snapshots`, { name: 'before' });
    await client.put(`${project.path}/nodes/${one.node_id}`, { x: 7 });
    await client.post(`${project.path}/nodes/${one.node_id}/start`, {}, 200);
    await client.post(`${project.path}/links/${link.link_id}/start_capture`, { capture_file_name: 'a.pcap' });
  }
  await client.post(`${closed.path}/close`, {}, 204);
  for (const name of ['one', 'two']) {
    await client.post('/v2/templates', { name, template_type: 'vpcs', compute_id: 'local' });
    await client.post('/v2/computes', { protocol: 'http', host: '127.0.0.1', port: 1, name });
  }
  await client.send('PUT /v2/iou_license', { body: { iourc_content: 'x', license_check: false } });
  await client.send('POST /v2/symbols/mine.svg/raw', { raw: '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>' });
  await client.send('POST /v2/compute/qemu/images/empty.img', { raw: Buffer.alloc(4096) });
  await client.get('/v2/compute/qemu/images');
  return { open: open.id, closed: closed.id };
}

/** State that clients see, by parts; an answer of 5xx is in none. Console ports are of the test server's own range. */
async function worldOf(client: RawClient): Promise<Record<string, string>> {
  const world: Record<string, string> = {};
  const ask = async (part: string, path: string, keys?: readonly string[]) => {
    const reply = await client.send(`GET ${path}`, { limitMs: answerLimitMs });
    assert.ok(reply.status < 500, `${path}: ${reply.status} ${reply.text().slice(0, 300)}`);
    const body: unknown = reply.status === 200 && keys ? reply.json() : reply.text();
    const pick = (item: Record<string, unknown>) => JSON.stringify(keys?.map((key) => item[key]));
    world[part] =
      keys && reply.status === 200
        ? [body]
            .flat()
            .map((item) => pick(item as Record<string, unknown>))
            .sort()
            .join()
        : String(body);
  };
  for (const [name, id] of Object.entries(ids)) {
    const path = `/v2/projects/${id}`;
    // A restart opens it in the background.
    if (name === 'open') await client.send(`POST ${path}/open`, { limitMs: answerLimitMs });
    await ask(`${name}.project`, path, ['name', 'status', 'path']);
    await ask(`${name}.nodes`, `${path}/nodes`, ['node_id', 'name', 'x', 'properties']);
    await ask(`${name}.links`, `${path}/links`, ['link_id', 'filters', 'capture_file_name']);
    await ask(`${name}.drawings`, `${path}/drawings`, ['drawing_id', 'svg']);
    await ask(`${name}.snapshots`, `${path}/snapshots`, ['name', 'snapshot_id']);
    if (name === 'open') await ask(`${name}.history`, `${path}/history`, []);
  }
  await ask('templates', '/v2/templates', ['template_id', 'name']);
  await ask('computes', '/v2/computes', ['name']);
  await ask('license', '/v2/iou_license', ['iourc_content']);
  await ask('symbols', '/v2/symbols', ['symbol_id']);
  await ask('images', '/v2/compute/qemu/images', ['filename', 'md5sum']);
  await ask('appliances', '/v2/appliances', ['name']);
  return world;
}

async function withStarted<T>(fn: (server: RunningServer, client: RawClient) => Promise<T>): Promise<T> {
  const server = await start();
  const client = new RawClient(server.url);
  try {
    return await fn(server, client);
  } finally {
    client.close();
    await server.stop();
  }
}

before(async () => {
  await mkdir(join(data, 'appliances'), { recursive: true });
  await writeFile(join(data, 'appliances', 'a.gns3a'), '{"name": "A", "category": "router"}');
  await withStarted(async (_server, client) => {
    ids = await build(client);
  });
  await resetFolder(data, pristine);
  sound = await withStarted((_server, client) => worldOf(client));
});

describe('one damaged file', () => {
  test('keeps no server from starting, is named, and costs nothing else', async (t) => {
    const chance = makeChance();
    t.diagnostic(`seed ${chance.seed}`);
    const all = (await filesOf(pristine)).flatMap((file) => Object.keys(faults).map((fault) => ({ file, fault })));
    const wanted = process.env.PATCHBAY_TEST_FAULTS;
    const named = all.filter(({ file, fault }) => wanted === 'all' || `${file}: ${fault}`.includes(wanted ?? ''));
    const cases = wanted !== undefined ? named : Array.from({ length: sampled }, () => chance.pick(all) ?? { file: '', fault: '' });
    t.diagnostic(`${cases.length} of ${all.length} cases`);
    for (const { file, fault } of cases) {
      await t.test(`${file}: ${fault}`, async () => {
        await resetFolder(pristine, data);
        const { size } = await stat(join(data, file));
        await faults[fault]?.(join(data, file), chance);
        await withStarted(async (server, client) => {
          const world = await worldOf(client);
          const mayDiffer = affected(file, ids);
          for (const [part, text] of Object.entries(sound)) if (!mayDiffer.test(part)) assert.equal(world[part], text, part);
          if (isNoticed(file, fault, size))
            assert.ok(server.log().includes(file), `its log does not name ${file}: ${server.log()}`);
        });
      });
    }
  });
});
