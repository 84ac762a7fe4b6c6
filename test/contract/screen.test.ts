/** Screens of machines: VNC over TCP and as a WebSocket for browsers, SPICE, UEFI firmware and a TPM, under TCG. */
import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { waitFor } from '../support/wait-for.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createNode, createProject, type NodeBody, type ProjectHandle, tinyVm, withServer } from '../support/with-server.ts';

const bench = await withServer();
const { client, server } = bench;

interface Wire {
  /** All bytes so far. */
  received(): Buffer;
  send(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
}

async function overTcp(port: number): Promise<Wire> {
  const socket = connect(port, '127.0.0.1');
  const parts: Buffer[] = [];
  socket.on('data', (bytes) => parts.push(bytes));
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return { received: () => Buffer.concat(parts), send: (bytes) => void socket.write(bytes), close: () => socket.destroy() };
}

async function overWebSocket(path: string): Promise<Wire & { closed: Promise<number> }> {
  const socket = await openWebSocket(`${server.url}${path}`);
  const received = () => Buffer.concat(socket.messages.map((message) => Buffer.from(message)));
  return { received, send: socket.send, close: socket.close, closed: socket.closed };
}

/** The handshake of RFB 3.8 without authentication (RFC 6143 §7.1 to §7.3), then a picture; the screen's width and height in pixels. */
async function picture(wire: Wire): Promise<{ width: number; height: number }> {
  const until = async (bytes: number) => {
    await waitFor(() => wire.received().length >= bytes, { what: `${bytes} bytes of RFB`, limitMs: 20_000 });
    return wire.received();
  };
  assert.equal((await until(12)).toString('latin1', 0, 12), 'RFB 003.008\n');
  wire.send(Uint8Array.from(Buffer.from('RFB 003.008\n')));
  const types = await until(14);
  assert.ok(types.subarray(13, 13 + (types[12] ?? 0)).includes(1), 'no authentication is offered');
  const afterTypes = 13 + (types[12] ?? 0);
  wire.send(Uint8Array.of(1));
  assert.equal((await until(afterTypes + 4)).readUInt32BE(afterTypes), 0, 'accepted');
  wire.send(Uint8Array.of(1));
  const init = await until(afterTypes + 4 + 24);
  const [width, height] = [init.readUInt16BE(afterTypes + 4), init.readUInt16BE(afterTypes + 6)];
  const named = afterTypes + 4 + 24 + init.readUInt32BE(afterTypes + 24);
  await until(named);
  const request = Buffer.alloc(10);
  request.writeUInt8(3, 0);
  request.writeUInt16BE(width, 6);
  request.writeUInt16BE(height, 8);
  wire.send(Uint8Array.from(request));
  // An update with at least one rectangle, and more of it than fits into one read.
  const update = await until(named + 64 * 1024);
  assert.equal(update[named], 0);
  assert.ok(update.readUInt16BE(named + 2) >= 1);
  return { width, height };
}

/** The size changes while the machine boots. */
async function shows(wire: Wire): Promise<void> {
  const { width, height } = await picture(wire);
  assert.ok(width >= 640 && height >= 400, `${width} x ${height}`);
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
const vga = { ...tinyVm, options: '-nodefaults -machine accel=tcg -vga std' };

describe('a screen', () => {
  test('VNC: on its port, and as a WebSocket of compute and controller', async () => {
    const project = await createProject(client);
    const node = await started(project, { console_type: 'vnc', properties: vga });
    assert.ok(Number(node.console) >= 5900);
    const ways = [
      `${project.computePath}/qemu/nodes/${node.node_id}/console/ws`,
      `${project.path}/nodes/${node.node_id}/console/ws`,
    ];
    const direct = await overTcp(Number(node.console));
    await shows(direct);
    direct.close();
    for (const way of ways) {
      const wire = await overWebSocket(way);
      await shows(wire);
      if (way === ways[1]) await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
      else wire.close();
      await wire.closed;
    }
    expectFault(await client.send(`GET ${ways[0]}`, { headers: upgrade }), 409);
  });

  test('SPICE: its port speaks the protocol, and there is nothing for the WebSocket', async () => {
    const project = await createProject(client);
    for (const console_type of ['spice', 'spice+agent']) {
      const node = await started(project, { console_type, properties: { ...vga, options: '-nodefaults -machine accel=tcg' } });
      const wire = await overTcp(Number(node.console));
      // A link message of the main channel (spice-protocol: magic, version 2.2, size, header without capabilities).
      const link = Buffer.alloc(16 + 18);
      link.write('REDQ', 'latin1');
      link.writeUInt32LE(2, 4);
      link.writeUInt32LE(2, 8);
      link.writeUInt32LE(18, 12);
      link.writeUInt8(1, 20);
      link.writeUInt32LE(18, 30);
      wire.send(Uint8Array.from(link));
      await waitFor(() => wire.received().length >= 16, { what: 'an answer of SPICE', limitMs: 20_000 });
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
    await waitFor(() => /BdsDxe|UEFI/.test(shown()), { what: 'the firmware on the console', limitMs: 100_000 });
    socket.close();
    const compute = await client.get<NodeBody>(`${project.computePath}/qemu/nodes/${node.node_id}`);
    assert.match(String(compute.command_line), /if=pflash.*OVMF_VARS_4M\.fd.*tpm-tis/);
    const directory = String(compute.node_directory);
    await access(join(directory, 'OVMF_VARS_4M.fd'));
    await access(join(directory, 'tpm', 'tpm2-00.permall'));
    await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
  });
});
