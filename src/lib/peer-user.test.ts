import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { peerUser, type TcpEnd } from './peer-user.ts';

const ends = (socket: Socket): [TcpEnd, TcpEnd] => [
  { address: socket.localAddress ?? '', port: socket.localPort ?? 0 },
  { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 },
];

for (const [host, target] of [
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['::', '127.0.0.1'],
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
    assert.equal(await peerUser(...ends(socket)), process.getuid?.());
    const [own, peer] = ends(socket);
    assert.equal(await peerUser(own, { ...peer, port: peer.port - 1 }), undefined);
    client.destroy();
    socket.destroy();
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
  assert.equal(await peerUser(...ends(socket)), 65_534);
  socket.destroy();
});
