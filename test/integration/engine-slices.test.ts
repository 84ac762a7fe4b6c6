/** Slices that an engine places: ordered, placed again after a crash, adopted, released. The engine starts processes of this host. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { chainOver, groupSize } from '../../bench/slices/chain.ts';
import { requestsAt } from '../../bench/slices/metrics.ts';
import type { SliceObject } from '../../src/schema/slice.ts';
import { killProcesses, processesOf, runtimeDirectoryOf } from '../support/leftovers.ts';
import { ping } from '../support/ping.ts';
import { untilSlice } from '../support/slices.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, withServer } from '../support/with-server.ts';

const { server, client } = await withServer({ config: { Cluster: { engine: 'process', lease_seconds: 30 } } });
const folder = join(server.dataDir, 'slices');
const markOf = async (id: string) => JSON.parse(await readFile(join(folder, id, 'slice.json'), 'utf8')) as { pid: number };
const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
interface ComputeAddress {
  readonly host: string;
  readonly port: number;
}
interface PlacedNode {
  readonly name: string;
  readonly console: number;
}
const slices = () => client.get<SliceObject[]>('/v2/slices');

test('a slice is ordered, joins, and is placed again with the same id and data when its process ends', async () => {
  const ordered = await client.post<SliceObject>('/v2/slices', { name: 'ordered' });
  const id = ordered.compute_id;
  assert.equal(ordered.state, 'pending');
  assert.equal(ordered.engine, 'process');
  await untilSlice(client, id, 'joined');
  const project = await createProject(client);
  const node = await createNode(client, project, 'vpcs', { compute_id: id });
  const { pid } = await markOf(id);
  const nodePath = `${project.path}/nodes/${node.node_id}`;
  await client.post(`${nodePath}/start`, {}, 200);

  // Signals all processes of a job, as Slurm does, so that the node ends as soon as the slice knows that it is to end.
  const data = join(folder, id, 'data');
  const processes = processesOf(data, await runtimeDirectoryOf(data, true));
  assert.ok(processes.some(({ commandLine }) => commandLine.includes('fabric/main.')));
  killProcesses([{ pid, commandLine: '' }, ...processes], 'SIGTERM');
  await waitFor(async () => (await markOf(id)).pid !== pid, { what: 'another process', everyMs: 100 });
  const { epoch } = await untilSlice(client, id, 'joined');
  assert.ok(epoch > 1);
  const isStarted = async () => (await client.get(nodePath)).status === 'started';
  await waitFor(isStarted, { what: 'the node, which ran', everyMs: 100, limitMs: 60_000 });

  await buildChain(id);

  const second = (await markOf(id)).pid;
  await server.restart();
  await untilSlice(client, id, 'joined');
  assert.equal((await markOf(id)).pid, second, 'a controller that starts again adopts it');
  assert.ok(await isStarted());

  const refused = await client.send(`DELETE /v2/slices/${id}`);
  assert.equal(refused.status, 409, 'it holds an open lab');
  const { name } = await client.get<{ name: string }>(project.path);
  assert.ok(refused.text().includes(name), refused.text());
  assert.ok(await isStarted(), 'nothing was done');
  await client.delete(`/v2/slices/${id}?force=true`);
  await waitFor(() => !isRunning(second), { what: 'the end of the process' });
  await waitFor(async () => (await readdir(folder)).length === 0, { what: 'an empty folder' });
  assert.deepEqual(await slices(), []);
});

/** A short form of `bench/slices.ts`: all PCs answer a ping of their neighbour, and the requests for them are few. */
async function buildChain(slice: string): Promise<void> {
  const project = await createProject(client);
  const { body, neighbours } = chainOver(['local', slice], 2);
  const { url } = await client
    .get<ComputeAddress>(`/v2/computes/${slice}`)
    .then(({ host, port }) => ({ url: `http://${host}:${port}` }));
  const requests = () => requestsAt(server.dataDir, [{ compute_id: slice, url }]);
  const before = await requests();
  await client.post(`${project.path}/bulk`, body);
  await client.post(`${project.path}/nodes/start`, {}, 204);
  const sent = (await requests()) - before;
  assert.ok(sent <= 8 * groupSize, `${sent} requests for ${groupSize} nodes and their links`);
  const nodes = new Map((await client.get<PlacedNode[]>(`${project.path}/nodes`)).map((node) => [node.name, node]));
  await Promise.all(
    neighbours.map(async (address, index) => {
      if (address === undefined) return;
      const console = await openTelnet(nodes.get(`PC${index}`)?.console ?? assert.fail(`PC${index} has no console`));
      const output = () => console.received().toString('latin1');
      try {
        await waitFor(() => ping({ send: (text) => console.send(text), output }, address, 1), {
          what: `PC${index} reaches ${address}`,
        });
      } finally {
        console.close();
      }
    }),
  );
  await client.delete(project.path);
}

test('orders are checked, and an unknown engine is refused', async () => {
  const status = async (line: string, body: unknown = {}) => (await client.send(line, { body })).status;
  assert.equal(await status('POST /v2/slices', { engine: 'slurms' }), 409);
  assert.equal(await status('POST /v2/slices', { memory: 1 }), 400);
  assert.equal(await status('POST /v2/slices', { owner: 'x' }), 400);
  assert.equal(await status(`DELETE /v2/slices/${crypto.randomUUID()}`), 404);
  assert.deepEqual(await slices(), []);
});
