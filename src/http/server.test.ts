import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { request as httpRequest, WebSocket } from 'undici';
import { waitFor } from '../../test/support/wait-for.ts';
import { fault } from '../api/faults.ts';
import { type Authenticator, unrestricted } from '../api/rights.ts';
import { Answer, type Route, route, Stream, socketRoute } from '../api/route.ts';
import { Tickets } from '../api/tickets.ts';
import { Type } from '../schema/type.ts';
import { mostInTurn } from './client-limits.ts';
import { capitalized, createHttpServer } from './server.ts';

const Body = Type.Object(
  { name: Type.Optional(Type.String()), count: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
);

/** Requests that began in the present turn of the event loop, and the most of any. */
const turn = { begun: 0, most: 0 };

const routes: Route[] = [
  route('GET /v2/things/{thing_id}', { right: 'login', summary: '', body: Body }, ({ path, body }) => ({
    id: path.thing_id,
    ...body,
  })),
  route('POST /v2/things', { right: 'login', summary: '', body: Body, status: 201 }, ({ body }) => body),
  route('DELETE /v2/things/{thing_id}', { right: 'login', summary: '', status: 204 }, () => undefined),
  route('GET /v2/turn', { right: 'login', summary: '' }, () => {
    if (turn.begun++ === 0)
      setImmediate(() => {
        turn.most = Math.max(turn.most, turn.begun);
        turn.begun = 0;
      });
  }),
  route('PUT /v2/empty', { right: 'login', summary: '' }, () => undefined),
  route('GET /v2/waits', { right: 'login', summary: '' }, ({ signal }) => ({ isAborted: signal.aborted })),
  route('GET /v2/fails', { right: 'login', summary: '' }, () => Promise.reject(fault('project_not_found', { project_id: 'x' }))),
  route('GET /v2/bug', { right: 'login', summary: '' }, () => Promise.reject(new Error('secret cause'))),
  route('GET /v2/answer', { right: 'login', summary: '' }, () => new Answer(202, { a: 1 })),
  route(
    'GET /v2/stream',
    { right: 'login', summary: '' },
    () => new Stream('application/vnd.tcpdump.pcap', Readable.from(['ab', 'cd'])),
  ),
  route('POST /v2/files/{path:.+}', { right: 'login', summary: '', raw: true }, async ({ path, stream }) => ({
    path: path.path,
    text: await text(stream ?? Readable.from([])),
  })),
  route('GET /v2/numbers/{n:\\d+}/x', { right: 'login', summary: '' }, ({ path }) => path),
  socketRoute(
    'GET /v2/echo/{word}/ws',
    { right: 'login', summary: '' },
    ({ path }) => {
      if (path.word === 'closed') throw fault('project_not_found', { project_id: path.word });
      return path.word;
    },
    (socket, word) => {
      socket.send(word);
      socket.onMessage((data) => socket.send(data));
    },
  ),
];

/** An answer as it came, up to its end. */
async function rawAnswer(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  // The client writes instead of `end`: Node's server gives up a request whose client has ended its side.
  socket.write(`${request}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  return text(socket);
}

describe('HTTP server', () => {
  let app: FastifyInstance;
  let url: string;
  before(async () => {
    app = await createHttpServer({
      routes,
      log: pino({ level: 'silent' }),
      serverHeader: 'Patchbay/0 GNS3/2.2.60',
      allowedOrigins: ['http://localhost:3080'],
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  });
  after(() => app.close());

  async function ask(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS',
    path: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
  ) {
    const answer = await httpRequest(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    const content = await answer.body.text();
    const type = answer.headers['content-type'];
    const json = type === 'application/json' && content !== '' ? (JSON.parse(content) as Record<string, unknown>) : undefined;
    return { status: answer.statusCode, type, route: answer.headers['x-route'], headers: answer.headers, content, json };
  }

  it('writes header names as HTTP/1.1 servers usually do: a proxy for GNS3 looks for them literally', async () => {
    const port = Number(new URL(url).port);
    for (const [request, expected] of [
      ['GET /v2/things/1 HTTP/1.1', /\r\nContent-Type: application\/json\r\nContent-Length: \d+\r\n/],
      ['GET /v2/nowhere HTTP/1.1', /\r\nContent-Length: 14\r\n/],
      ['GET /v2/stream HTTP/1.1', /\r\nTransfer-Encoding: chunked\r\n/],
      ['GET /v2/fails HTTP/1.1', /\r\nX-Route: \/v2\/fails\r\n/],
      ['GET /%zz HTTP/1.1', /\r\nContent-Length: \d+\r\n/],
    ] as const) {
      const [head = ''] = (await rawAnswer(port, request)).split('\r\n\r\n', 1);
      assert.match(`${head}\r\n`, expected);
      const names = head
        .split('\r\n')
        .slice(1)
        .map((line) => line.slice(0, line.indexOf(':')));
      for (const name of names) assert.match(name, /^[A-Z]/, head);
    }
    assert.deepEqual(['etag', 'www-authenticate', 'x-route', 'Server'].map(capitalized), [
      'ETag',
      'WWW-Authenticate',
      'X-Route',
      'Server',
    ]);
  });

  it('answers an error with its code in a header, which other answers do not have', async () => {
    const { headers, json } = await ask('GET', '/v2/things/x', '{');
    assert.deepEqual([headers['x-error-code'], json?.status], ['malformed_json', 400]);
    assert.equal((await ask('GET', '/v2/things/1')).headers['x-error-code'], undefined);
  });

  it('keeps nothing of a request on its connection', async () => {
    const sockets: Socket[] = [];
    const note = (socket: Socket) => void sockets.push(socket);
    app.server.on('connection', note);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    const accepted = await waitFor(() => sockets[0], { what: 'the connection' });
    app.server.off('connection', note);
    const before = accepted.listenerCount('close');
    for (let asked = 1; asked <= 3; asked++) {
      socket.write('GET /v2/waits HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      await waitFor(() => received.split('isAborted').length > asked, { what: 'the answer' });
    }
    await waitFor(() => accepted.listenerCount('close') <= before, { what: 'the end of its listeners', limitMs: 10_000 });
    socket.destroy();
  });

  it('answers many requests of one packet a few at a time, in their order', async () => {
    const count = 1000;
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const paths = Array.from({ length: count }, (_, index) => (index % 100 === 99 ? `/v2/numbers/${index}/x` : '/v2/turn'));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => void chunks.push(chunk));
    const received = () => Buffer.concat(chunks).toString();
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`).join(''));
    await waitFor(() => received().split('HTTP/1.1 ').length > count, { what: 'the answers', limitMs: 60_000 });
    socket.destroy();
    assert.deepEqual(
      received().match(/"n": "\d+"/g),
      [99, 199, 299, 399, 499, 599, 699, 799, 899, 999].map((n) => `"n": "${n}"`),
    );
    // The next turn counts them, and may have begun some as well.
    assert.ok(turn.most <= 2 * mostInTurn, `${turn.most} requests began in one turn`);
  });

  it('answers JSON with its exact type, sorted keys and the template of the route', async () => {
    const answer = await ask('POST', '/v2/things', '{"name":"n","count":2}', { 'content-type': 'text/plain' });
    assert.deepEqual([answer.status, answer.type, answer.route], [201, 'application/json', '/v2/things']);
    assert.equal(answer.content, '{\n    "count": 2,\n    "name": "n"\n}');
    assert.equal(answer.headers.server, 'Patchbay/0 GNS3/2.2.60');
  });

  it('reads bodies whatever they are called, empty ones too, also on GET', async () => {
    assert.deepEqual((await ask('POST', '/v2/things', '', { 'content-type': 'application/json' })).json, {});
    assert.deepEqual((await ask('POST', '/v2/things')).json, {});
    assert.deepEqual(
      (await ask('POST', '/v2/things', '{"count":1}', { 'content-type': 'application/x-www-form-urlencoded' })).json,
      { count: 1 },
    );
    assert.deepEqual((await ask('POST', '/v2/things', Buffer.from('{"count":1}'))).json, { count: 1 });
    assert.deepEqual((await ask('GET', '/v2/things/7', '{"count":3}')).json, { id: '7', count: 3 });
  });

  it('merges the query into the body, as text, and refuses what the schema does not know', async () => {
    assert.deepEqual((await ask('POST', '/v2/things?name=q&name=r', '{"name":"b"}')).json, { name: 'q' });
    const refused = await ask('POST', '/v2/things?count=5');
    assert.deepEqual(
      [refused.status, refused.json?.status, refused.json?.path, refused.json?.method],
      [400, 400, '/v2/things', 'POST'],
    );
    assert.match(String((await ask('POST', '/v2/things?foo=1')).json?.message), /unknown key "foo"/);
  });

  it('tells what is wrong with a body, on every kind of route', async () => {
    for (const body of ['{"a":', Buffer.from([0x7b, 0xff, 0x7d]), '\ufeff{}']) {
      const answer = await ask('POST', '/v2/things', body);
      assert.deepEqual(
        [answer.status, answer.type, answer.route, answer.json?.status],
        [400, 'application/json', '/v2/things', 400],
      );
    }
    assert.deepEqual((await ask('POST', '/v2/things', '{"a":')).json?.request, { malformed_json: '{"a":' });
    assert.equal((await ask('POST', '/v2/things', '[]')).status, 400);
    assert.equal((await ask('POST', '/v2/things?name=x', '[1]')).status, 400);
    assert.equal((await ask('GET', '/v2/fails', '{"a":')).status, 400);
  });

  it('refuses bodies beyond the limit, but not on raw routes', async () => {
    const answer = await ask('POST', '/v2/things', JSON.stringify({ name: 'x'.repeat(1_048_576) }));
    assert.deepEqual([answer.status, answer.json?.status, answer.route], [413, 413, '/v2/things']);
    const large = await ask('POST', '/v2/files/a/b%2Fc', 'y'.repeat(3_000_000));
    assert.equal(large.json?.path, 'a/b/c');
    assert.equal(String(large.json?.text).length, 3_000_000);
    assert.equal(large.route, '/v2/files/{path:.+}');
  });

  for (const [wish, ending] of [
    ['keep-alive', 'and the connection is kept'],
    ['close', 'and then ends the connection'],
  ] as const) {
    it(`lets a client send the rest of a body that it has refused, ${ending}`, { timeout: 20_000 }, async () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      const lines = ['POST /v2/things HTTP/1.1', 'Host: 127.0.0.1', `Connection: ${wish}`, 'Content-Length: 2000000'];
      socket.write(`${lines.join('\r\n')}\r\n\r\n${'x'.repeat(100_000)}`);
      const [first] = await once(socket, 'data');
      assert.match(String(first), /^HTTP\/1\.1 413 /);
      for (let part = 0; part < 19; part++) {
        await pause(20);
        await new Promise<void>((resolve, reject) =>
          socket.write('x'.repeat(100_000), (error) => (error ? reject(error) : resolve())),
        );
      }
      if (wish === 'close') return void assert.equal(await text(socket), '');
      socket.write('GET /v2/things/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
      assert.match(await text(socket), /^HTTP\/1\.1 200 /);
    });
  }

  it('turns faults and bugs into answers, and keeps causes to itself', async () => {
    const known = await ask('GET', '/v2/fails');
    assert.deepEqual(
      [known.status, known.route, known.json],
      [404, '/v2/fails', { message: "Project ID x doesn't exist", status: 404 }],
    );
    const bug = await ask('GET', '/v2/bug');
    assert.equal(bug.status, 500);
    assert.doesNotMatch(bug.content, /secret|\.ts/);
  });

  it('sends empty answers, chosen statuses and streams', async () => {
    const gone = await ask('DELETE', '/v2/things/1');
    assert.deepEqual([gone.status, gone.type, gone.content], [204, undefined, '']);
    const empty = await ask('PUT', '/v2/empty');
    assert.deepEqual([empty.status, empty.type, empty.headers['content-length']], [200, 'application/octet-stream', '0']);
    assert.equal((await ask('GET', '/v2/answer')).status, 202);
    const stream = await ask('GET', '/v2/stream');
    assert.deepEqual([stream.type, stream.content], ['application/vnd.tcpdump.pcap', 'abcd']);
  });

  it('answers unknown paths and methods in plain text', async () => {
    const unknown = await ask('GET', '/v2/nothing');
    assert.deepEqual(
      [unknown.status, unknown.type, unknown.content, unknown.route],
      [404, 'text/plain; charset=utf-8', '404: Not Found', undefined],
    );
    const wrong = await ask('PUT', '/v2/things/1');
    assert.deepEqual([wrong.status, wrong.content, wrong.headers.allow], [405, '405: Method Not Allowed', 'DELETE,GET,OPTIONS']);
    assert.equal((await ask('HEAD', '/v2/answer')).status, 405);
    assert.equal((await ask('GET', '/v2/things/')).status, 404);
    assert.equal((await ask('GET', '/v2/numbers/x/x')).status, 404);
    assert.equal((await ask('GET', '/v2/things/%zz')).status, 400);
  });

  it('limits the parameters of declared routes, and no address of the page', async (t) => {
    const [id, longer] = [8192, 8193].map((length) => 'x'.repeat(length)) as [string, string];
    assert.equal((await ask('DELETE', `/v2/things/${id}`)).status, 204);
    const refused = await ask('DELETE', `/v2/things/${longer}`);
    assert.deepEqual([refused.status, refused.route], [414, '/v2/things/{thing_id}']);
    const log = pino({ level: 'silent' });
    const withPage = await createHttpServer({ routes, log, serverHeader: 'x', allowedOrigins: [], pages: { folder: '/nowhere' } });
    t.after(() => withPage.close());
    const statuses = ['projects', 'assets'].map(async (folder) => (await withPage.inject(`/${folder}/${longer}`)).statusCode);
    assert.deepEqual(await Promise.all(statuses), [200, 404]);
  });

  it('lets known pages in, and no other', async () => {
    const asked = { origin: 'http://localhost:3080', 'access-control-request-method': 'PUT' };
    assert.equal((await ask('OPTIONS', '/v2/things', undefined, asked)).headers['access-control-allow-methods'], 'PUT');
    assert.equal((await ask('OPTIONS', '/v2/things', undefined, { ...asked, origin: 'http://evil.example' })).status, 403);
    const simple = await ask('GET', '/v2/answer', undefined, { origin: 'http://localhost:3080' });
    assert.equal(simple.headers['access-control-allow-origin'], 'http://localhost:3080');
  });

  it('refuses changes requested by a page of another origin', async () => {
    const foreign = { origin: 'http://evil.example' };
    assert.equal((await ask('POST', '/v2/things', '{}', foreign)).status, 403);
    assert.equal((await ask('GET', '/v2/answer', undefined, foreign)).status, 202);
    assert.equal((await ask('POST', '/v2/things', '{}', { origin: url })).status, 201);
    const upgrade = { ...foreign, connection: 'upgrade', upgrade: 'websocket' };
    assert.equal((await app.inject({ url: '/v2/echo/hello/ws', headers: upgrade })).statusCode, 403);
  });

  it('serves WebSockets, and refuses before the upgrade', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v2/echo/hello/ws`);
    const first = await new Promise((resolve) => socket.addEventListener('message', ({ data }) => resolve(data), { once: true }));
    assert.equal(first, 'hello');
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
    socket.close();
    await closed;
    assert.equal((await ask('GET', '/v2/echo/hello/ws')).status, 400);
    const refused = new WebSocket(`${url.replace('http', 'ws')}/v2/echo/closed/ws`);
    await new Promise((resolve) => refused.addEventListener('error', resolve));
  });
});

/** A server whose pings are sent by `test.mock.timers`, and a function that opens a WebSocket which answers none. */
async function pingingServer(test: TestContext) {
  test.mock.timers.enable({ apis: ['setInterval'] });
  const app = await createHttpServer({ routes, log: pino({ level: 'silent' }), serverHeader: 'x', allowedOrigins: [] });
  test.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const openSilent = () => {
    const silent = connect(port, '127.0.0.1');
    test.after(() => silent.destroy());
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    silent.write(
      `GET /v2/echo/hello/ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
    return silent;
  };
  return { app, port, openSilent };
}

it('a WebSocket whose client answers no ping is ended, and no other one', async (test) => {
  const { app, port, openSilent } = await pingingServer(test);
  const answering = new WebSocket(`ws://127.0.0.1:${port}/v2/echo/hello/ws`);
  await once(answering, 'message');
  const [served] = app.websocketServer.clients;
  assert.ok(served);
  const silent = openSilent();
  const ended = once(silent.resume(), 'close');
  await waitFor(() => app.websocketServer.clients.size === 2, { what: 'both connections' });
  for (let turn = 0; turn < 3; turn += 1) {
    const answer = once(served, 'pong');
    test.mock.timers.tick(30_000);
    await answer;
  }
  await ended;
  assert.equal(answering.readyState, WebSocket.OPEN);
  assert.equal(app.websocketServer.clients.size, 1);
  answering.close();
});

it('a WebSocket whose client has not read yet what comes before the ping is not ended', async (test) => {
  const { app, openSilent } = await pingingServer(test);
  const slow = openSilent();
  await waitFor(() => app.websocketServer.clients.size === 1, { what: 'the connection' });
  const [served] = app.websocketServer.clients;
  assert.ok(served);
  // More than the buffers of the kernel hold.
  for (let part = 0; part < 48; part += 1) served.send(Buffer.alloc(2 ** 20));
  for (let turn = 0; turn < 8; turn += 1) {
    test.mock.timers.tick(30_000);
    await new Promise(setImmediate);
  }
  assert.equal(served.readyState, WebSocket.OPEN);
  assert.ok(served.bufferedAmount > 0);
  const ended = once(slow.resume(), 'close');
  await waitFor(() => served.bufferedAmount === 0, { what: 'a client that has read all' });
  for (let turn = 0; turn < 3; turn += 1) {
    test.mock.timers.tick(30_000);
    await new Promise(setImmediate);
  }
  await ended;
});

it('Fastify loads no validator and no serializer of its own', () => {
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  assert.ok(loaded.some((file) => file.includes('/fastify/')));
  assert.deepEqual(
    loaded.filter((file) => /\/(ajv|@fastify\/(ajv|fast-json-stringify)-compiler)\//.test(file)),
    [],
  );
});

/** Accepts one user. */
const authenticator: Authenticator = {
  signIn: async ({ user, password }) => (user === 'u' && password === 'p' ? unrestricted : undefined),
  bearer: async () => undefined,
  onChange: () => () => undefined,
};

describe('HTTP Basic', () => {
  it('refuses everything without the credentials', async () => {
    const app = await createHttpServer({
      routes,
      log: pino({ level: 'silent' }),
      serverHeader: 'x',
      allowedOrigins: [],
      credentials: { authenticator, tickets: new Tickets(), openConsoles: false },
    });
    const refused = await app.inject('/v2/answer');
    assert.deepEqual(
      [refused.statusCode, refused.json(), refused.headers['www-authenticate']],
      [
        401,
        {
          message: 'Authentication is required: send user and password (HTTP Basic), or sign in on the page',
          status: 401,
        },
        'Basic realm="GNS3 server"',
      ],
    );
    assert.equal(refused.headers['x-route'], '/v2/answer');
    const authorization = `Basic ${Buffer.from('u:p').toString('base64')}`;
    assert.equal((await app.inject({ url: '/v2/answer', headers: { authorization } })).statusCode, 202);
    await app.close();
  });
});
