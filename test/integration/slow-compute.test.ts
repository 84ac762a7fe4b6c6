/** A compute that is slow is not gone: its process is stopped for longer than any second of silence, then continued. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { listen } from '../support/notices.ts';
import { expectStatus } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { createProject, freshName, withServer } from '../support/with-server.ts';

/** Pause as long as one of a computer under heavy load; a host that is gone is noticed sooner. */
const stoppedMs = 12_000;

const { client } = await withServer();
const computeId = randomUUID();
let slow: RunningServer;

before(async () => {
  slow = await startServer({ config: { Qemu: { acceleration: 'off' } } });
  await client.post('/v2/computes', {
    compute_id: computeId,
    name: 'slow',
    protocol: 'http',
    host: '127.0.0.1',
    port: slow.port,
  });
});
after(() => slow?.stop());

/** The compute's process is stopped meanwhile; its kernel still accepts connections. */
async function whileStopped<T>(work: () => Promise<T>): Promise<T> {
  process.kill(slow.pid, 'SIGSTOP');
  try {
    const working = work();
    await pause(stoppedMs);
    process.kill(slow.pid, 'SIGCONT');
    return await working;
  } finally {
    process.kill(slow.pid, 'SIGCONT');
  }
}

const newNode = () => ({ name: freshName('PC'), node_type: 'vpcs', compute_id: computeId });

test('a request to a compute that is stopped for a while waits for it, and the compute stays connected', async () => {
  const project = await createProject(client);
  const listener = await listen(`${client.base.origin}/v2/notifications/ws`);
  const reply = await whileStopped(() => client.send(`POST ${project.path}/nodes`, { body: newNode(), limitMs: 60_000 }));
  expectStatus(reply, 201);
  const lost = listener.notices().filter(({ action, event }) => action === 'compute.updated' && event.connected === false);
  assert.deepEqual(lost, []);
  await listener.close();
  await client.delete(project.path);
});

test('a compute that is stopped while it is registered can be used when it answers', async () => {
  await client.delete(`/v2/computes/${computeId}`);
  const project = await createProject(client);
  const record = { compute_id: computeId, name: 'slow', protocol: 'http', host: '127.0.0.1', port: slow.port };
  const reply = await whileStopped(async () => {
    await client.post('/v2/computes', record);
    return client.send(`POST ${project.path}/nodes`, { body: newNode(), limitMs: 60_000 });
  });
  expectStatus(reply, 201);
  await client.delete(project.path);
});
