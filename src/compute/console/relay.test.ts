import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { knownHosts } from '../../lib/known-hosts.ts';
import { ConsoleRelay } from './relay.ts';

test('the page of a container answers under names of this machine only', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-relay-'));
  const asked: string[] = [];
  const cookies: string[] = [];
  const page = createServer(async (request, response) => {
    if (request.headers.cookie !== undefined) cookies.push(request.headers.cookie);
    asked.push(`${request.url} ${await text(request)}`);
    response.end('the page');
  });
  const path = join(folder, 'page');
  await new Promise<void>((resolve) => page.listen(path, resolve));
  const relay = await ConsoleRelay.open({
    host: '127.0.0.1',
    port: 0,
    path,
    refusal: '',
    isKnownHost: knownHosts(['lab.example']),
  });
  t.after(async () => {
    await relay.close();
    page.closeAllConnections();
    await new Promise((resolve) => page.close(resolve));
    await rm(folder, { recursive: true });
  });
  /** Answer to a client that sends these pieces, to the end of the connection. */
  const ask = (...pieces: readonly string[]) => {
    const client = connect({ port: relay.port, host: '127.0.0.1', noDelay: true });
    for (const piece of pieces) client.write(piece);
    return text(client);
  };
  const request = (host: string, body: string) =>
    `POST /${host} HTTP/1.1\r\nHost: ${host}:8080\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (const host of ['127.0.0.1', 'lab.example', 'LOCALHOST']) assert.match(await ask(request(host, 'hello')), /the page$/);
  assert.match(await ask('GET /old HTTP/1.0\r\n', '\r\n'), /the page$/);
  assert.deepEqual(asked, ['/127.0.0.1 hello', '/lab.example hello', '/LOCALHOST hello', '/old ']);
  assert.match(await ask(request('rebound.example', 'x')), /^HTTP\/1\.1 403 [\s\S]*allowed_hosts/);
  const [head, tail] = [request('rebound.example', 'x').slice(0, 40), request('rebound.example', 'x').slice(40)];
  assert.match(await ask(head, tail), /^HTTP\/1\.1 403 /);
  assert.equal(asked.length, 4);
  // The page's own cookies reach it, the session of a browser at this server does not, in no request of a connection.
  const token = 'Ab0-_'.repeat(9);
  const first = `GET /1 HTTP/1.1\r\nHost: localhost\r\nCookie: own=patchbay-1; patchbay-3080=${token}; theirs=2\r\n\r\n`;
  const second = `GET /2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: ppatchbay=1; __Host-patchbay-80=${token}\r\n\r\n`;
  const client = connect({ port: relay.port, host: '127.0.0.1', noDelay: true });
  const answers = text(client);
  client.write(first);
  for (const piece of second.match(/[\s\S]{1,3}/g) ?? []) await new Promise((written) => client.write(piece, written));
  assert.equal((await answers).match(/the page/g)?.length, 2);
  const hidden = 'x'.repeat(token.length);
  assert.deepEqual(cookies, [`own=patchbay-1; patchbay-3080=${hidden}; theirs=2`, `ppatchbay=1; __Host-patchbay-80=${hidden}`]);
});
