/** Access to the server: TLS, credentials and tickets, pages of other origins. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { type RunningServer, serverProgram, startServer } from '../support/server.ts';
import { openWebSocket } from '../support/web-socket.ts';

const folder = await mkdtemp(join(tmpdir(), 'pb-tls-'));
const [cert, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
await promisify(execFile)('openssl', [
  'req',
  '-x509',
  '-newkey',
  'rsa:2048',
  '-nodes',
  '-days',
  '2',
  ...subject,
  '-keyout',
  key,
  '-out',
  cert,
]);
after(() => rm(folder, { recursive: true }));

const account = { auth: true, user: 'teacher', password: 'pässword:with colon' };
const authorization = `Basic ${Buffer.from(`${account.user}:${account.password}`).toString('base64')}`;

describe('credentials', () => {
  let server: RunningServer;
  let client: RawClient;
  test('a server that asks for them', async () => {
    server = await startServer({ config: { Server: account, Qemu: { acceleration: 'off' } } });
    client = new RawClient(server.url);
    expectStatus(await client.send('GET /v2/version'), 401);
    expectStatus(await client.send('GET /v2/version', { headers: { authorization } }), 200);
    expectStatus(await client.send('GET /v2/version', { headers: { authorization: `${authorization}x` } }), 401);
  });

  test('a session on a project has the name of its login', async () => {
    const headers = { authorization };
    const made = expectStatus(await client.send('POST /v2/projects', { headers, body: { name: 'present' } }), 201);
    const path = `/v2/projects/${made.json<{ project_id: string }>().project_id}/notifications/ws`;
    const reply = expectStatus(await client.send('POST /v2/tickets', { headers, body: { path } }), 201);
    const { ticket } = reply.json<{ ticket: string }>();
    const socket = await openWebSocket(`${server.url}${path}?presence=true&ticket=${ticket}`);
    const listed = await socket.next((message) => String(message).includes('"presence.listed"'));
    assert.deepEqual(JSON.parse(String(listed)).event.sessions, [{ number: 1, name: account.user, selected: [] }]);
    socket.close();
    await socket.closed;
  });

  test('a WebSocket is refused without, and opens once with a ticket', async () => {
    expectStatus(await client.send('POST /v2/tickets'), 401);
    const body = { path: '/v2/notifications/ws' };
    const reply = expectStatus(await client.send('POST /v2/tickets', { headers: { authorization }, body }), 201);
    const { ticket, expires_in } = reply.json<{ ticket: string; expires_in: number }>();
    assert.equal(expires_in, 30);
    const address = `${server.url}/v2/notifications/ws`;
    await assert.rejects(openWebSocket(address));
    await assert.rejects(openWebSocket(`${address}?ticket=${ticket.slice(1)}`));
    expectStatus(await client.send(`GET /v2/version?ticket=${ticket}`), 401);
    const socket = await openWebSocket(`${address}?ticket=${ticket}`);
    await socket.next((message) => String(message).includes('"ping"'));
    socket.close();
    await socket.closed;
    await assert.rejects(openWebSocket(`${address}?ticket=${ticket}`));
  });

  test('consoles are open to all only when the configuration says so', async () => {
    const upgrade = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    };
    const unknownId = crypto.randomUUID();
    const ask = async (path: string) => (await client.send(`GET ${path}`, { headers: upgrade })).status;
    const consolePath = `/v2/projects/${unknownId}/nodes/${unknownId}/console/ws`;
    assert.equal(await ask(consolePath), 401);
    client.close();
    await server.stop();
    const open = { ...account, console_without_credentials: true };
    server = await startServer({ config: { Server: open, Qemu: { acceleration: 'off' } } });
    client = new RawClient(server.url);
    assert.deepEqual([await ask(consolePath), await ask('/v2/notifications/ws')], [404, 401]);
    client.close();
    await server.stop();
  });
});

describe('TLS', () => {
  test('the server answers HTTPS, and the local compute says so', async () => {
    const server = await startServer({ args: ['--ssl', '--certfile', cert, '--certkey', key] });
    try {
      assert.match(server.url, /^https:/);
      const ca = await readFile(cert);
      const body = await new Promise<string>((done, failed) => {
        get(`${server.url}/v2/computes`, { ca }, (answer) => answer.setEncoding('utf8').once('data', done)).once('error', failed);
      });
      assert.equal((JSON.parse(body) as { protocol: string }[])[0]?.protocol, 'https');
    } finally {
      await server.stop();
    }
  });

  for (const [what, args, says] of [
    ['no files', ['--ssl'], /certfile and certkey must be given/],
    [
      'a file that is not there',
      ['--ssl', '--certfile', '/nowhere.crt', '--certkey', key],
      /certificate \/nowhere\.crt cannot be read/,
    ],
    ['files the wrong way round', ['--ssl', '--certfile', key, '--certkey', cert], /are no certificate and its key/],
  ] as const) {
    test(`${what}: the start fails with a sentence`, async () => {
      const child = spawn(process.execPath, [serverProgram, '--port', '0', '--data-dir', join(folder, 'data'), ...args]);
      let output = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      assert.equal(await new Promise((done) => child.once('close', done)), 2);
      assert.match(output, says);
    });
  }
});

test('pages of other origins: only allowed ones are served', async () => {
  const server = await startServer({
    config: { Server: { allowed_origins: 'https://lab.example' }, Qemu: { acceleration: 'off' } },
  });
  const client = new RawClient(server.url);
  try {
    const from = (origin: string) => client.send('POST /v2/projects', { body: { name: origin.slice(8) }, headers: { origin } });
    const allowed = expectStatus(await from('https://lab.example'), 201);
    assert.equal(allowed.headers['access-control-allow-origin'], 'https://lab.example');
    expectStatus(await from('http://127.0.0.1:4200'), 403);
    expectStatus(await from(server.url), 201);
  } finally {
    client.close();
    await server.stop();
  }
});
