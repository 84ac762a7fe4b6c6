import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Connection } from './connection.ts';

test('the report of a fabric that does not answer gives whole milliseconds', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-connection-'));
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(join(folder, 'fabric.sock'));
  await once(silent, 'listening');
  context.after(async () => {
    for (const socket of sockets) socket.destroy();
    silent.close();
    await rm(folder, { recursive: true });
  });
  const connection = await Connection.open(join(folder, 'fabric.sock'));
  assert.ok(connection);
  await assert.rejects(connection.request({ op: 'stats' }, 12.997746), { message: /no answer to stats within 13 ms/ });
  connection.close();
});
