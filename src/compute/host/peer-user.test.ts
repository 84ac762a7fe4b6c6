import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { peerUser } from './peer-user.ts';

for (const [host, target] of [
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['::', '127.0.0.1'],
  ['::', '::ffff:127.0.0.1'],
] as const) {
  test(`a connection to ${host} from ${target} is the user's who made it, until it is closed`, async (t) => {
    const server = createServer();
    server.listen(0, host);
    await once(server, 'listening');
    t.after(() => server.close());
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const arrived = once(server, 'connection');
    const client = connect(address.port, target);
    const [socket] = (await arrived) as [Socket];
    assert.equal(await peerUser(socket), process.getuid?.());
    socket.destroy();
    assert.equal(await peerUser(socket), undefined);
    client.destroy();
  });
}

test('another user is distinguished', { skip: process.getuid?.() !== 0 && 'only root can be another user' }, async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const arrived = once(server, 'connection');
  const child = spawn(
    'setpriv',
    ['--reuid=65534', '--clear-groups', 'socat', '-u', `TCP4:127.0.0.1:${address.port}`, 'OPEN:/dev/null'],
    { stdio: 'ignore' },
  );
  t.after(() => child.kill());
  const [socket] = (await arrived) as [Socket];
  assert.equal(await peerUser(socket), 65_534);
  socket.destroy();
});

/** Accepts one connection, which the test ends. */
async function acceptOne(t: TestContext, options: { allowHalfOpen?: boolean } = {}): Promise<{ client: Socket; socket: Socket }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const arrived = once(server, 'connection');
  const client = connect({ port: address.port, host: '127.0.0.1', ...options });
  const [socket] = (await arrived) as [Socket];
  socket.on('error', () => undefined);
  t.after(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return { client, socket };
}

test('a client that wrote and closed has no owner, although the kernel shows root as the owner of its end', async (t) => {
  const { client, socket } = await acceptOne(t);
  client.write('typed\r');
  client.destroy();
  await once(client, 'close');
  assert.equal(await peerUser(socket), undefined);
});

test('a client that reset its connection has no owner', async (t) => {
  const { client, socket } = await acceptOne(t);
  client.resetAndDestroy();
  await once(client, 'close');
  assert.equal(await peerUser(socket), undefined);
});

test('a client that sends no more but still reads keeps its owner', async (t) => {
  const { client, socket } = await acceptOne(t, { allowHalfOpen: true });
  client.end('typed\r');
  await once(client, 'finish');
  assert.equal(await peerUser(socket), process.getuid?.());
});
