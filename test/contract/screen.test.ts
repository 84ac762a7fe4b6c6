/** Screens of machines: VNC over TCP and as a WebSocket for browsers, SPICE, UEFI firmware and a TPM, under TCG. */
import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { openScreen, overTcp, overWebSocket, type Wire } from '../support/rfb.ts';
import { linkOfSpice } from '../support/spice.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import {
  createNode,
  createProject,
  idleVm,
  type NodeBody,
  type ProjectHandle,
  tinyVm,
  withServer,
} from '../support/with-server.ts';

const bench = await withServer();
const { client, server } = bench;

/** The size changes while the machine boots. */
async function shows(wire: Wire): Promise<void> {
  const screen = await openScreen(wire);
  const { width, height } = screen;
  assert.ok(width >= 640 && height >= 400, `${width} x ${height}`);
  const picture = await screen.picture();
  assert.equal(picture(0, 0)?.length, 3);
}

async function started(project: ProjectHandle, fields: Record<string, unknown>): Promise<NodeBody> {
  const node = await createNode(client, project, 'qemu', fields);
  await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  return node;
}
const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.alloc(16).toString('base64'),
};
const vga = { ...idleVm, options: '-nodefaults -machine accel=tcg -vga std' };

describe('a screen', () => {
  test('VNC: on its port, and as a WebSocket of compute and controller', async () => {
    const project = await createProject(client);
    const node = await started(project, { console_type: 'vnc', properties: vga });
    assert.ok(Number(node.console) >= 5900);
    const ways = [
      `${project.computePath}/qemu/nodes/${node.node_id}/console/ws`,
      `${project.path.replace('/v2/', '/v3/')}/nodes/${node.node_id}/console/vnc`,
      `${project.path}/nodes/${node.node_id}/console/ws`,
    ];
    const direct = await overTcp(Number(node.console));
    await shows(direct);
    direct.close();
    for (const way of ways) {
      const wire = await overWebSocket(`${server.url}${way}`);
      await shows(wire);
      if (way === ways.at(-1)) await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
      else wire.close();
      await wire.closed;
    }
    expectFault(await client.send(`GET ${ways[0]}`, { headers: upgrade }), 409);
    const pc = await createNode(client, project);
    const way = `/v3/projects/${project.id}/nodes/${pc.node_id}/console/vnc`;
    expectStatus(await client.send(`GET ${way}`, { headers: upgrade }), 409);
  });

  test('SPICE: its port speaks the protocol, and there is nothing for the WebSocket', async () => {
    const project = await createProject(client);
    for (const console_type of ['spice', 'spice+agent']) {
      const node = await started(project, { console_type, properties: { ...vga, options: '-nodefaults -machine accel=tcg' } });
      const wire = await overTcp(Number(node.console));
      wire.send(linkOfSpice());
      await waitFor(() => wire.received().length >= 16, { what: 'an answer of SPICE' });
      assert.equal(wire.received().toString('latin1', 0, 4), 'REDQ');
      wire.close();
      const way = `${project.computePath}/qemu/nodes/${node.node_id}/console/ws`;
      expectFault(await client.send(`GET ${way}`, { headers: upgrade }), 409);
      await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
    }
  });
});

describe('firmware and TPM', () => {
  test('UEFI boots from the node’s own variables, with a TPM beside it', async () => {
    const project = await createProject(client);
    const properties = { ...tinyVm, ram: 256, uefi: true, tpm: true, options: '-nodefaults -machine q35,accel=tcg' };
    const node = await started(project, { properties });
    const socket = await openWebSocket(`${server.url}${project.path}/nodes/${node.node_id}/console/ws`);
    const shown = () => Buffer.concat(socket.messages.map((message) => Buffer.from(message))).toString('latin1');
    await waitFor(() => /BdsDxe|UEFI/.test(shown()), { what: 'the firmware on the console', limitMs: 280_000 });
    socket.close();
    const compute = await client.get<NodeBody>(`${project.computePath}/qemu/nodes/${node.node_id}`);
    assert.match(String(compute.command_line), /if=pflash.*OVMF_VARS_4M\.fd.*tpm-tis/);
    const directory = String(compute.node_directory);
    await access(join(directory, 'OVMF_VARS_4M.fd'));
    await access(join(directory, 'tpm', 'tpm2-00.permall'));
    await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
  });
});
