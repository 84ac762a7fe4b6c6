/** Many nodes started at once, of which half must fail: the others run, each failure is reported, and failed nodes leave nothing. */
import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { processesOf } from '../support/leftovers.ts';
import { listen } from '../support/notices.ts';
import { expectFault } from '../support/raw-http.ts';
import { createNode, createProject, end, idleVm, type NodeBody, tinyVm, withServer } from '../support/with-server.ts';

const { client, server } = await withServer();
const machines = () => {
  const lines = processesOf(server.dataDir, server.runtimeDirectory).map(({ commandLine }) => commandLine);
  return new Set(lines.filter((line) => /qemu-system/.test(line)));
};

test('20 nodes at once, of which ten cannot be started', async () => {
  const project = await createProject(client);
  const image = join(server.dataDir, 'images', 'QEMU', 'gone.img');
  const make = (count: number, kind: string, properties: object) =>
    Promise.all(Array.from({ length: count }, () => createNode(client, project, kind, { properties })));
  await mkdir(dirname(image), { recursive: true });
  await writeFile(image, Buffer.alloc(1024 * 1024));
  const sound = [...(await make(8, 'vpcs', {})), ...(await make(2, 'qemu', idleVm))];
  const wrongOptions = await make(5, 'qemu', { ...tinyVm, options: '-no-such-option' });
  const lacking = await make(5, 'qemu', { ...tinyVm, hda_disk_image: 'gone.img' });
  await rm(image);
  const broken = [...wrongOptions, ...lacking];
  for (const [n, node] of broken.entries())
    await client.post(`${project.path}/links`, { nodes: [end(sound[n] as NodeBody), end(node)] });
  const before = await client.get('/v2/compute/network/ports');
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  const ends: string[] = [];
  const starts = client.send(`POST ${project.path}/nodes/start`, { limitMs: 60_000 }).finally(() => ends.push('starts'));
  await client.send('GET /v2/version').finally(() => ends.push('version'));
  expectFault(await starts, 409, /no-such-option|gone\.img/);
  assert.deepEqual(ends, ['version', 'starts']);
  for (const [nodes, reason] of [
    [wrongOptions, 'no-such-option'],
    [lacking, 'gone.img'],
  ] as const)
    for (const { name } of nodes)
      await listener.find(
        ({ action, event }) =>
          action === 'log.error' && JSON.stringify(event).includes(`Node ${name}: `) && JSON.stringify(event).includes(reason),
        `why ${name} was not started`,
      );
  await listener.close();
  const statuses = new Map((await client.get<NodeBody[]>(`${project.path}/nodes`)).map(({ node_id, status }) => [node_id, status]));
  assert.deepEqual(
    sound.map(({ node_id }) => statuses.get(node_id)),
    sound.map(() => 'started'),
  );
  assert.deepEqual(
    broken.map(({ node_id }) => statuses.get(node_id)),
    broken.map(() => 'stopped'),
  );
  assert.equal(machines().size, 2, [...machines()].join('\n'));
  assert.equal((await readdir(join(server.runtimeDirectory, 'n'))).length, 2, 'folders of sockets');
  assert.match((await client.send('GET /metrics')).text(), /^patchbay_fabric_links 0$/m);
  await client.post(`${project.path}/nodes/stop`, {}, 204);
  assert.deepEqual(await client.get('/v2/compute/network/ports'), before);
});
