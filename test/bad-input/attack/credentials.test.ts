/** Attacks on a server that asks for credentials: tickets at other routes, guesses of passwords, other spellings. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { expectFault, expectStatus, RawClient } from '../../support/raw-http.ts';
import { ask, BareConnection, requestText, upgrade } from '../../support/raw-socket.ts';
import { type RunningServer, serverProgram, startServer } from '../../support/server.ts';
import { waitFor } from '../../support/wait-for.ts';

const basic = (password: string, scheme = 'Basic') => `${scheme} ${Buffer.from(`teacher:${password}`).toString('base64')}`;
const authorization = basic('ri:ght');

let server: RunningServer;
let client: RawClient;
before(async () => {
  const account = { auth: true, user: 'teacher', password: 'ri:ght' };
  server = await startServer({ config: { Server: account, Qemu: { acceleration: 'off' } } });
  client = new RawClient(server.url);
});
after(async () => {
  client?.close();
  await server?.stop();
});

const host = { Host: '127.0.0.1' };
const send = (line: string, headers: Record<string, string> = {}, from?: string) =>
  ask(server.port, requestText(line, { ...host, ...headers }), { ...(from !== undefined && { from }) });
const issue = async (path = '/v2/notifications/ws'): Promise<string> => {
  const reply = expectStatus(await client.send('POST /v2/tickets', { headers: { authorization }, body: { path } }), 201);
  return reply.json<{ ticket: string }>().ticket;
};

describe('a ticket', () => {
  test('opens no route but a WebSocket’s, whatever the request says of itself', async () => {
    const created = await client.send('POST /v2/projects', { headers: { authorization }, body: { name: 'kept' } });
    const { project_id } = expectStatus(created, 201).json<{ project_id: string }>();
    const path = `/v2/projects/${project_id}`;
    for (const line of [
      `DELETE ${path}`,
      `PUT ${path}`,
      `POST ${path}/close`,
      `GET ${path}`,
      'POST /v2/shutdown',
      'GET /v2/notifications',
    ])
      assert.equal((await send(`${line}?ticket=${await issue(line.replace(/^\w+ /, ''))}`, upgrade)).status, 401, line);
    for (const method of ['DELETE', 'POST', 'HEAD', 'OPTIONS'])
      assert.notEqual((await send(`${method} /v2/notifications/ws?ticket=${await issue()}`, upgrade)).status, 101, method);
    expectStatus(await client.send(`GET ${path}`, { headers: { authorization } }), 200);
  });

  test('opens the path for which it was issued, and no other', async () => {
    const path = '/v2/notifications/ws';
    assert.equal((await send(`GET ${path}?ticket=${await issue('/v2/compute/notifications/ws')}`, upgrade)).status, 401);
    assert.equal((await send(`GET ${path}?ticket=${await issue(path)}`, upgrade)).status, 101);
    for (const body of [{ path: 'no path' }, {}])
      expectFault(await client.send('POST /v2/tickets', { headers: { authorization }, body }), 400);
  });

  test('is good once, also when the first use was at a wrong path', async () => {
    const path = '/v2/notifications/ws';
    const ticket = await issue(path);
    assert.equal((await send(`GET /v2/compute/notifications/ws?ticket=${ticket}`, upgrade)).status, 401);
    assert.equal((await send(`GET ${path}?ticket=${ticket}`, upgrade)).status, 401);
  });

  test('an invalid upgrade is refused with an error', async () => {
    const { Connection: _none, ...noUpgrade } = upgrade;
    assert.equal((await send(`GET /v2/notifications/ws?ticket=${await issue()}`, noUpgrade)).status, 400);
  });
});

test('the name of the scheme may be written in any case', async () => {
  for (const scheme of ['basic', 'BASIC', 'Basic', 'bAsIc ']) {
    expectStatus(await client.send('GET /v2/version', { headers: { authorization: basic('ri:ght', scheme) } }), 200);
    expectFault(await client.send('GET /v2/version', { headers: { authorization: basic('wrong', scheme) } }), 401);
  }
  for (const other of ['Bearer', 'Digest', 'xBasic', 'Basic,'])
    expectFault(await client.send('GET /v2/version', { headers: { authorization: basic('ri:ght', other) } }), 401);
});

test('a refusal has the body of every error', async () => {
  const body = expectFault(await client.send('GET /v2/version'), 401, /Authentication is required/);
  assert.deepEqual(Object.keys(body).sort(), ['message', 'status']);
});

test('guesses wait for each other, and hold up no other address', async () => {
  const guess = (word: string) => requestText('GET /v2/version', { ...host, Authorization: basic(word) });
  const from = '127.0.0.9';
  // The last response arrives after 200 + 400 + … ms; until then the maximum number of attempts waits.
  const guesses: BareConnection[] = [];
  const tryNext = () => {
    const connection = new BareConnection(server.port, { from });
    connection.write(guess(`guess ${guesses.length}`));
    guesses.push(connection);
  };
  const unanswered = () => guesses.filter(({ received }) => received === '').length;
  for (let count = 0; count < 20; count++) tryNext();
  // The right password from that address is refused while the maximum waits; from another address it is accepted.
  const own = await waitFor(
    async () => {
      tryNext();
      const reply = await send('GET /v2/version', { Authorization: authorization }, from);
      return reply.status === 429 && reply;
    },
    { what: 'an attempt that is not looked at', limitMs: 60_000 },
  );
  assert.equal(own.headers.get('retry-after'), '10');
  assert.notEqual(unanswered(), 0, 'every guess was answered at once');
  assert.equal((await send('GET /v2/version', { Authorization: authorization }, '127.0.0.10')).status, 200);
  assert.notEqual(unanswered(), 0, 'the other address was held up');
  for (const one of guesses) one.close();
});

test('a program with an old password is refused at once, however often it asks', async () => {
  const before = new Set<number>();
  for (let count = 0; count < 40; count++)
    before.add((await send('GET /v2/version', { Authorization: basic('old') }, '127.0.0.11')).status);
  assert.deepEqual([...before], [401]);
});

describe('a session', () => {
  const own = () => `http://127.0.0.1:${server.port}`;
  const signIn = async (body: unknown = { user: 'teacher', password: 'ri:ght' }) => {
    const reply = expectStatus(await client.send('POST /login', { headers: { origin: own() }, body }), 204);
    const header = String(reply.headers['set-cookie']);
    return { header, cookie: header.split(';', 1)[0] ?? '' };
  };

  test('begins with user and password, and stands for them in the server’s own page', async () => {
    const { header, cookie } = await signIn();
    assert.match(header, /^patchbay-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const read = expectStatus(await client.send('GET /v2/version', { headers: { cookie } }), 200);
    assert.equal(read.headers['x-patchbay-user'], 'teacher');
    expectStatus(await client.send('GET /login', { headers: { cookie } }), 204);
    expectStatus(await client.send('POST /v2/projects', { headers: { cookie, origin: own() }, body: { name: 'mine' } }), 201);
    assert.notEqual((await signIn()).cookie, cookie);
  });

  test('changes nothing and opens no WebSocket for a page of another origin, or of none', async () => {
    const { cookie } = await signIn();
    for (const origin of ['http://127.0.0.1:1', 'http://evil.example', 'null', undefined]) {
      const headers = { Cookie: cookie, ...(origin !== undefined && { Origin: origin }) };
      assert.equal((await send('POST /v2/projects', headers)).status, 403, origin);
      assert.equal((await send('GET /v2/notifications/ws', { ...headers, ...upgrade })).status, 403, origin);
    }
    assert.equal((await send('GET /v2/notifications/ws', { Cookie: cookie, Origin: 'http://127.0.0.1', ...upgrade })).status, 101);
    expectStatus(await client.send('POST /login', { headers: { origin: 'http://evil.example' }, body: {} }), 403);
  });

  test('ends with the sign-out, and its WebSockets with it', async () => {
    const { cookie } = await signIn();
    const socket = new BareConnection(server.port);
    socket.write(
      requestText('GET /v2/notifications/ws', { Host: '127.0.0.1', Cookie: cookie, Origin: 'http://127.0.0.1', ...upgrade }),
    );
    await waitFor(() => socket.received.includes('101 '), { what: 'the WebSocket' });
    const out = expectStatus(await client.send('POST /logout', { headers: { cookie, origin: own() } }), 204);
    const ended = String(out.headers['set-cookie']).split(';', 1)[0] ?? '';
    assert.match(ended, /=ended$/);
    await waitFor(() => socket.ended, { what: 'the end of the WebSocket' });
    for (const left of [cookie, ended]) {
      const { headers } = expectStatus(await client.send('GET /v2/version', { headers: { cookie: left } }), 401);
      // A browser shows no dialog of its own for it.
      assert.match(String(headers['www-authenticate']), /^Cookie /);
    }
  });

  test('ends with the sign-out of all browsers, which needs credentials or a session of the same origin', async () => {
    // HTTP Basic has the same credentials for both sign-ins.
    const [mine, others] = [await signIn(), await signIn({ user: 'teacher:ri', password: 'ght' })];
    const path = 'POST /logout/everywhere';
    const status = async (headers: Record<string, string>) => (await client.send(path, { headers })).status;
    const reads = async ({ cookie }: typeof mine) => (await client.send('GET /v2/version', { headers: { cookie } })).status;
    const { ticket } = expectStatus(
      await client.send('POST /v2/tickets', {
        headers: { cookie: others.cookie, origin: own() },
        body: { path: '/v2/notifications/ws' },
      }),
      201,
    ).json<{ ticket: string }>();
    assert.equal(await status({ origin: own() }), 401);
    assert.equal(await status({ authorization: basic('wrong') }), 401);
    assert.equal((await send(path, { Cookie: mine.cookie })).status, 403);
    assert.equal(await status({ cookie: mine.cookie, origin: 'http://evil.example' }), 403);
    assert.deepEqual([await reads(mine), await reads(others)], [200, 200]);
    assert.equal(await status({ cookie: mine.cookie, origin: own() }), 204);
    assert.deepEqual([await reads(mine), await reads(others)], [401, 401]);
    assert.equal((await send(`GET /v2/notifications/ws?ticket=${ticket}`, upgrade)).status, 401);
    const again = await signIn();
    assert.equal(await status({ authorization: basic('ri:ght') }), 204);
    assert.equal(await reads(again), 401);
  });

  test('is kept apart by the port of the address, for servers behind one proxy', async () => {
    const headers = (port: number) => ({ host: `lab.example:${port}`, origin: `https://lab.example:${port}` });
    const body = { user: 'teacher', password: 'ri:ght' };
    const reply = expectStatus(await client.send('POST /login', { headers: headers(8443), body }), 204);
    const cookie = String(reply.headers['set-cookie']).split(';', 1)[0] ?? '';
    assert.match(cookie, /^__Host-patchbay-8443=/);
    expectStatus(await client.send('GET /v2/version', { headers: { ...headers(8443), cookie } }), 200);
    expectStatus(await client.send('GET /v2/version', { headers: { ...headers(8444), cookie } }), 401);
  });

  test('does not begin with a wrong password, a wrong form or a made-up cookie', async () => {
    const wrong = { user: 'teacher', password: 'wrong' };
    const refused = await client.send('POST /login', { headers: { origin: own() }, body: wrong });
    assert.equal(refused.headers['set-cookie'], undefined);
    expectFault(refused, 401, /user or the password is wrong/);
    for (const body of [{}, { user: 'teacher' }, { user: 1, password: ['ri:ght'] }, [], 'teacher'])
      expectFault(await client.send('POST /login', { body }), 400);
    const name = (await signIn()).cookie.split('=', 1)[0];
    for (const value of ['', 'x', 'a'.repeat(43), 'a'.repeat(5_000)])
      expectStatus(await client.send('GET /v2/version', { headers: { cookie: `${name}=${value}` } }), 401);
  });

  test('is for browsers: programs get the challenge of HTTP Basic', async () => {
    for (const [path, accept] of [
      ['/v2/version', 'text/html'],
      ['/', '*/*'],
      ['/v2/projects', 'application/json'],
    ] as const) {
      const { headers } = expectStatus(await client.send(`GET ${path}`, { headers: { accept } }), 401);
      assert.equal(headers['www-authenticate'], 'Basic realm="GNS3 server"', path);
    }
  });
});

describe('auth without a password or a user', () => {
  for (const password of ['', '"  "'])
    test(`password = ${password}: no password logs in, and the first one is to be set`, async () => {
      const server = await startServer({ config: { Server: { auth: true, user: 'teacher', password } } });
      try {
        assert.match(server.output(), /^No administrator has a password yet/m);
        for (const given of ['', '  ', '"  "']) {
          const authorization = `Basic ${Buffer.from(`teacher:${given}`).toString('base64')}`;
          expectStatus(await new RawClient(server.url, { authorization }).send('GET /v2/version'), 401);
        }
      } finally {
        await server.stop();
      }
    });

  test('without a user it does not start, and says so', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pb-auth-'));
    try {
      await writeFile(join(folder, 'config.ini'), '[Server]\nauth = True\nuser =\npassword = right\n');
      const args = [serverProgram, '--port', '0', '--data-dir', join(folder, 'data'), '--config', join(folder, 'config.ini')];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      // A server that starts would stay.
      child.stdout.once('data', () => child.kill('SIGKILL'));
      assert.equal(await new Promise((done) => child.once('close', done)), 2);
      assert.match(output, /auth is on and user is empty/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

test('guesses from hundreds of addresses wait together, and a right password from another address is answered', async () => {
  const guesses: BareConnection[] = [];
  const guess = (from: string) => {
    const connection = new BareConnection(server.port, { from });
    connection.write(requestText('GET /v2/version', { ...host, Authorization: basic(`guess ${guesses.length}`) }));
    guesses.push(connection);
  };
  try {
    // The second guess of each address is one too many when those of all others wait.
    for (const round of [1, 2]) for (let at = 1; at <= 200; at++) guess(`127.9.${round}.${at % 100}`);
    await waitFor(async () => (await send('GET /v2/version', { Authorization: basic('more') }, '127.9.1.1')).status === 429, {
      what: 'a guess that is not looked at',
      limitMs: 60_000,
    });
    assert.equal((await send('GET /v2/version', { Authorization: authorization }, '127.9.9.9')).status, 200);
  } finally {
    for (const one of guesses) one.close();
  }
});
