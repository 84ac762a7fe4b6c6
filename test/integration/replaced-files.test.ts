/** Links that a machine which broke out leaves in the place of its own sockets and log, with the real QEMU: none is followed. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { overTcp, overWebSocket } from '../support/rfb.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  createNode,
  createProject,
  idleVm,
  type NodeBody,
  type ProjectHandle,
  tinyVm,
  withServer,
} from '../support/with-server.ts';

const skip = process.platform !== 'linux' && 'only Linux opens sockets by descriptor';
const { client, server } = await withServer();
/** Another socket of the host, as that of a container engine. */
const decoy = createServer((socket) => {
  reached++;
  socket.destroy();
});
let reached = 0;
let project: ProjectHandle;
const decoyPath = () => join(server.dataDir, 'decoy');
before(async () => {
  project = await createProject(client);
  await new Promise<void>((resolve) => decoy.listen(decoyPath(), resolve));
});
after(() => decoy.close());

async function startMachine(fields: Record<string, unknown>): Promise<NodeBody> {
  const node = await createNode(client, project, 'qemu', fields);
  await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  return node;
}

/** Puts a link in the place of a machine's socket, which exactly one machine has. */
async function replaceSocket(name: string): Promise<void> {
  const folders = join(server.runtimeDirectory, 'n');
  const found = (await readdir(folders, { recursive: true })).filter((path) => path.endsWith(`/${name}`));
  assert.equal(found.length, 1, `one socket ${name}`);
  const path = join(folders, String(found[0]));
  await rm(path);
  await symlink(decoyPath(), path);
}

test('a link in the place of a screen leads no client to another socket', { skip }, async () => {
  const node = await startMachine({
    console_type: 'vnc',
    properties: { ...idleVm, options: '-nodefaults -machine accel=tcg -vga std' },
  });
  await replaceSocket('screen');
  const wire = await overTcp(Number(node.console));
  await wire.closed;
  const page = await overWebSocket(`${server.url}${project.path}/nodes/${node.node_id}/console/ws`).catch(() => undefined);
  await page?.closed;
  assert.equal(reached, 0);
  await client.delete(`${project.path}/nodes/${node.node_id}`);
});

test('links in the place of a serial console and its log are not followed when the server starts again', { skip }, async () => {
  const secret = join(server.dataDir, 'secret');
  await writeFile(secret, 'words of the host');
  const node = await startMachine({ properties: tinyVm });
  const log = String(node.node_directory).concat('/console.log');
  await waitFor(
    () =>
      readFile(log, 'utf8').then(
        (text) => text.includes('iPXE'),
        () => false,
      ),
    { what: 'words in its log' },
  );
  await server.kill9();
  await replaceSocket('ser0');
  await rm(log);
  await symlink(secret, log);
  await server.restart();
  const { status } = await client.get<NodeBody>(`${project.path}/nodes/${node.node_id}`);
  assert.equal(status, 'started', 'it is adopted');
  const console = await openTelnet(Number(node.console));
  console.send('any words\r');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.doesNotMatch(console.pending(), /words of the host/);
  console.close();
  assert.equal(reached, 0);
  await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
  await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  await waitFor(
    () =>
      readFile(log, 'utf8').then(
        (text) => text.includes('iPXE'),
        () => false,
      ),
    { what: 'words in its next log' },
  );
  assert.equal(await readFile(secret, 'utf8'), 'words of the host');
});
