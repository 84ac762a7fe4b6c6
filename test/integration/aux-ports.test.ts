/** Auxiliary console ports of containers: the wanted one is given, or listeners are warned; the one of the last run is kept. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { listen } from '../support/notices.ts';
import { openTelnet } from '../support/telnet.ts';
import { createNode, createProject, type NodeBody, withServer } from '../support/with-server.ts';

const skip = await noEngine();
const engine = skip === undefined ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
const { server, client } = await withServer({ config: { Docker: { socket_path: engine?.socket ?? '/nowhere/docker.sock' } } });

test('the auxiliary console of a container', { skip, timeout: 240_000 }, async () => {
  const project = await createProject(client, { auto_close: false });
  const listener = await listen(`${server.url}${project.path}/notifications/ws`);
  const warnings = () =>
    listener
      .notices()
      .flatMap(({ action, event }) => (action === 'log.warning' ? [String((event as { message: string }).message)] : []));
  const made = await createNode(client, project, 'docker', { properties: { image: 'pb-test' }, console_type: 'telnet' });
  const own = `${project.path}/nodes/${made.node_id}`;
  const auxOf = async () => Number((await client.get<NodeBody>(own)).properties.aux);
  const restarted = async () => {
    await client.post(`${own}/stop`, {}, 200);
    await client.post(`${own}/start`, {}, 200);
    return auxOf();
  };
  const first = await restarted();
  assert.equal(await restarted(), first, 'the port of the last run is kept');
  // A wish for a free port is granted at the next start; a container that runs keeps its own until then.
  const spare = await createNode(client, project, 'vpcs');
  const wanted = Number(spare.console);
  await client.delete(`${project.path}/nodes/${spare.node_id}`);
  await client.post(`${own}/stop`, {}, 200);
  const changed = await client.put<NodeBody>(own, { properties: { aux: wanted } });
  assert.equal(changed.properties.aux, wanted);
  assert.deepEqual(warnings(), []);
  assert.equal(await restarted(), wanted);
  const console = await openTelnet(wanted);
  console.send('echo $((6*7))\r');
  await console.expect(/42/);
  console.close();
  assert.deepEqual(warnings(), []);
  // Listeners are warned of a port that another program has.
  await client.post(`${own}/stop`, {}, 200);
  const program = createServer().listen(wanted, '127.0.0.1');
  await once(program, 'listening');
  await client.post(`${own}/start`, {}, 200);
  const given = await auxOf();
  assert.notEqual(given, wanted);
  await listener.find(
    ({ action, event }) =>
      action === 'log.warning' &&
      String((event as { message?: unknown }).message).startsWith(
        `${made.name} did not get the auxiliary console port ${wanted}: it has ${given}.`,
      ),
    'a warning',
  );
  program.close();
  await listener.close();
  await client.delete(project.path);
});
