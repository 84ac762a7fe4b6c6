/** Attacks of a web page in a browser on a machine that reaches this server. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { ask, requestText, upgrade } from '../../support/raw-socket.ts';
import { type RunningServer, startServer } from '../../support/server.ts';
import { createProject, withServer } from '../../support/with-server.ts';

const { server, client } = await withServer({ config: { Server: { allowed_hosts: 'lab.example, other.example' } } });

/** A request of a page at `http://NAME:PORT`, whose name resolves to this server. */
const fromPage = (line: string, name: string, more: Record<string, string> = {}, body?: unknown) => {
  const host = `${name}:${server.port}`;
  return ask(server.port, requestText(line, { Host: host, Origin: `http://${host}`, ...more }, body));
};

describe('a page whose name was rebound to this server', () => {
  const evil = 'rebound.evil.example';
  const lines = ['GET /v2/version', 'GET /v2/projects', 'GET /', 'GET /metrics', 'GET /openapi.json', 'GET /nothing'];
  for (const line of lines) {
    test(`${line} is refused, and says what to set`, async () => {
      const { status, body } = await fromPage(line, evil);
      assert.equal(status, 403, body);
      assert.match((JSON.parse(body) as { message: string }).message, /rebound\.evil\.example:\d+".*allowed_hosts in \[Server\]/);
    });
  }

  test('it makes, changes and removes nothing', async () => {
    const project = await createProject(client);
    assert.equal((await fromPage('POST /v2/projects', evil, {}, { name: 'from a page' })).status, 403);
    assert.equal((await fromPage(`PUT ${project.path}`, evil, {}, { name: 'renamed' })).status, 403);
    assert.equal((await fromPage(`DELETE ${project.path}`, evil)).status, 403);
    const names = (await client.get<{ name: string; project_id: string }[]>('/v2/projects')).map(({ project_id }) => project_id);
    assert.deepEqual(names, [project.id]);
  });

  test('it opens no WebSocket, nor an event stream', async () => {
    assert.equal((await fromPage('GET /v2/notifications/ws', evil, upgrade)).status, 403);
    assert.equal((await fromPage('GET /v2/notifications', evil)).status, 403);
    assert.equal((await fromPage('GET /v2/compute/notifications/ws', evil, upgrade)).status, 403);
  });

  test('names that only look like one of ours are refused', async () => {
    const names = [
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'xlocalhost',
      '0x7f000001',
      '2130706433',
      '[::1',
      '::1',
      'lab.example.evil',
    ];
    for (const name of names) assert.equal((await fromPage('GET /v2/version', name)).status, 403, name);
    assert.equal((await ask(server.port, 'GET /v2/version HTTP/1.1\r\nHost:\r\n\r\n')).status, 403);
  });
});

test('addresses, localhost, the machine’s own name and configured names are served, in any case', async () => {
  const names = ['127.0.0.1', '127.1.2.3', '192.168.1.7', '[::1]', '[fe80::1]', 'localhost', 'LocalHost', 'localhost.', hostname()];
  for (const name of [...names, 'lab.example', 'OTHER.example']) {
    assert.equal((await fromPage('GET /v2/version', name)).status, 200, name);
    assert.equal((await fromPage('GET /v2/notifications/ws', name, upgrade)).status, 101, name);
  }
  assert.equal((await ask(server.port, requestText('GET /v2/version', { Host: 'localhost' }))).status, 200);
  // A probe of a load balancer.
  assert.equal((await ask(server.port, 'GET /v2/version HTTP/1.0\r\n\r\n')).status, 200);
});

test('the default lets no page in that came over plain HTTP', async () => {
  for (const origin of [
    'http://127.0.0.1:4200',
    'http://localhost:4200',
    'http://localhost:3080',
    'http://gns3.github.io',
    'null',
  ]) {
    const reply = await client.send('GET /v2/version', { headers: { origin } });
    assert.equal(reply.headers['access-control-allow-origin'], undefined, origin);
    assert.equal((await client.send('POST /v2/projects', { headers: { origin }, body: { name: 'x' } })).status, 403, origin);
    const asks = { origin, 'access-control-request-method': 'POST' };
    assert.equal((await client.send('OPTIONS /v2/projects', { headers: asks })).status, 403, origin);
  }
  const known = await client.send('GET /v2/version', { headers: { origin: 'https://gns3.github.io' } });
  assert.equal(known.headers['access-control-allow-origin'], 'https://gns3.github.io');
});

describe('with credentials', () => {
  const authorization = `Basic ${Buffer.from('teacher:right').toString('base64')}`;
  let secured: RunningServer;
  before(async () => {
    const account = { auth: true, user: 'teacher', password: 'right', console_without_credentials: true };
    secured = await startServer({ config: { Server: account, Qemu: { acceleration: 'off' } } });
  });
  after(() => secured.stop());

  test('they decide, under any name', async () => {
    const headers = { Host: 'lab.example' };
    assert.equal((await ask(secured.port, requestText('GET /v2/version', headers))).status, 401);
    const right = { ...headers, Authorization: authorization };
    assert.equal((await ask(secured.port, requestText('GET /v2/version', right))).status, 200);
  });

  test('consoles that ask for none are closed to rebound pages', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    const line = `GET /v2/projects/${id}/nodes/${id}/console/ws`;
    assert.equal((await ask(secured.port, requestText(line, { Host: 'rebound.evil.example', ...upgrade }))).status, 403);
    assert.equal((await ask(secured.port, requestText(line, { Host: '127.0.0.1', ...upgrade }))).status, 404);
  });
});
