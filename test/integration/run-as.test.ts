/** A server that is root, whose machines run as another user: links, consoles and a restart of the server work all the same. */
import assert from 'node:assert/strict';
import { chmod, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, tinyVm } from '../support/with-server.ts';

const skip = process.getuid?.() !== 0 && 'only root can choose the user of a process';

test('machines of another user are linked, talked to and taken over', { skip }, async () => {
  const server = await startServer({ config: { Qemu: { acceleration: 'off', run_as: 'nobody' } }, stopNodes: false });
  const client = new RawClient(server.url);
  await chmod(server.dataDir, 0o711);
  const project = await createProject(client);
  const options = '-machine accel=tcg,graphics=off';
  const nodes = await Promise.all(
    ['A', 'B'].map((name) => createNode(client, project, 'qemu', { name, properties: { ...tinyVm, options, ram: 32 } })),
  );
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: nodes.map((node) => end(node)) });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  await server.restart();
  const statuses = async () => (await client.get<NodeBody[]>(`${project.path}/nodes`)).map(({ status }) => status);
  await waitFor(async () => (await statuses()).every((status) => status === 'started'), { what: 'machines that were taken over' });
  const { running } = await client.get<{ running: boolean }>(`${project.path}/links/${link_id}/stats`);
  assert.equal(running, true);
  const [one] = nodes;
  const telnet = await openTelnet(one?.console as number);
  await waitFor(
    () => {
      telnet.send('\x02');
      return telnet.expect(/iPXE>/, 500);
    },
    { what: 'a prompt', limitMs: 20_000 },
  );
  telnet.close();
  const { node_directory } = await client.get<{ node_directory: string }>(`${project.path}/nodes/${one?.node_id}`);
  assert.match(await readFile(`${node_directory}/qemu.log`, 'utf8'), /-sandbox on/);
  await client.delete(project.path);
  client.close();
  await server.stop();
});
