/** Malformed requests: every refusal has the form and status of an error, and none is a 500. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectFault } from '../../support/raw-http.ts';
import { ask, BareConnection, requestText, upgrade } from '../../support/raw-socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { withServer } from '../../support/with-server.ts';

const { server, client } = await withServer({
  config: { Server: { request_timeout: 1, upload_idle_timeout: 3 } },
});
const host = 'Host: 127.0.0.1\r\n';
const image = '/v2/compute/qemu/images/half.img';

async function refusal(bytes: string, status: number): Promise<void> {
  const reply = await ask(server.port, bytes);
  const place = `${bytes.slice(0, 100)}: ${reply.status} ${reply.body.slice(0, 300)}`;
  assert.equal(reply.status, status, place);
  const body = JSON.parse(reply.body) as {
    message?: unknown;
    status?: unknown;
    error?: unknown;
    code?: unknown;
    statusCode?: unknown;
  };
  assert.equal(body.status, status, place);
  assert.ok(typeof body.message === 'string' && body.message !== '', place);
  assert.deepEqual([body.error, body.code, body.statusCode], [undefined, undefined, undefined], place);
}

describe('JSON that is nested deep', () => {
  for (const [what, text] of [
    ['arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['arrays without an end', '['.repeat(100_000)],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a member', `{"name":"x","variables":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['101 levels', `{"supplier":${'['.repeat(100)}${']'.repeat(100)}}`],
  ] as const) {
    for (const line of ['POST /v2/projects', 'POST /v2/projects?name=y', 'POST /v2/shutdown?x=1', 'GET /v2/version'])
      test(`${what}: ${line}`, async () => {
        expectFault(await client.send(line, { raw: text }), 400, /nested deeper than 100 levels/);
      });
  }

  test('brackets in a text are no levels', async () => {
    const reply = await client.send('POST /v2/projects', { body: { name: `x${'['.repeat(100)}`, variables: null } });
    assert.equal(reply.status, 201);
  });
});

describe('errors that the HTTP layer makes', () => {
  for (const [what, status, bytes] of [
    ['an escape that is none', 400, `GET /v2/projects/%zz HTTP/1.1\r\n${host}\r\n`],
    ['an escape of half a character', 400, `GET /v2/projects/%e2%82 HTTP/1.1\r\n${host}\r\n`],
    [
      'a bad escape for a WebSocket',
      400,
      `GET /v2/projects/%zz/notifications/ws HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    ],
    ['a parameter that is too long', 414, `GET /v2/projects/${'x'.repeat(9000)} HTTP/1.1\r\n${host}\r\n`],
    ['headers that are too large', 431, `GET /v2/version HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a method that is none', 400, `BREW /v2/version HTTP/1.1\r\n${host}\r\n`],
    ['no HTTP at all', 400, 'hello\r\n\r\n'],
    ['HTTP/2', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no Host', 400, 'GET /v2/version HTTP/1.1\r\n\r\n'],
    ['two lengths', 400, `POST /v2/projects HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    [
      'a length and chunks',
      400,
      `POST /v2/projects HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a length that is none', 400, `POST /v2/projects HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`],
    ['an expectation that is unknown', 417, `POST /v2/projects HTTP/1.1\r\n${host}Expect: tea\r\nContent-Length: 2\r\n\r\n{}`],
    ['a connection to another host', 405, `CONNECT evil.example:80 HTTP/1.1\r\n${host}\r\n`],
    ['a body that is announced too large', 413, `POST /v2/projects HTTP/1.1\r\n${host}Content-Length: 99999999\r\n\r\n`],
    [
      'a body that grows too large',
      413,
      `POST /v2/projects HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(20)}`,
    ],
  ] as const)
    test(`${what}: ${status}`, () => refusal(bytes, status));

  test('methods that no route has are refused as by GNS3', async () => {
    for (const method of ['PATCH', 'TRACE', 'PROPFIND'])
      assert.equal((await ask(server.port, `${method} /v2/version HTTP/1.1\r\n${host}\r\n`)).status, 405, method);
  });
});

describe('requests that are sent by halves', () => {
  const half = (line: string, sent: string) => {
    const connection = new BareConnection(server.port);
    connection.write(`${line} HTTP/1.1\r\n${host}${sent}`);
    return connection;
  };
  const endsWith = async (connection: BareConnection, status: number): Promise<void> => {
    const reply = await connection.reply();
    assert.deepEqual([reply.status, (JSON.parse(reply.body) as { status: number }).status], [status, status]);
    await waitFor(() => connection.ended, { what: 'the end of the connection', limitMs: 60_000 });
  };

  test('500 bodies in JSON are answered 408, and their connections end', async () => {
    const all = Array.from({ length: 500 }, () => half('POST /v2/projects', 'Content-Length: 100\r\n\r\n{"name": "'));
    await Promise.all(all.map((one) => endsWith(one, 408)));
  });

  test('headers', () => endsWith(half('POST /v2/projects', 'X-Half: '), 408));

  test('a body that drips has no more time than one that stops', async () => {
    const connection = half('POST /v2/projects', 'Content-Length: 1000000\r\n\r\n');
    const dripping = setInterval(() => connection.write(' '), 20);
    await endsWith(connection, 408).finally(() => clearInterval(dripping));
  });

  test('an upload that stalls is answered 408, and nothing of it is kept', async () => {
    await endsWith(half(`POST ${image}`, 'Content-Length: 1000000\r\n\r\nQFI'), 408);
    assert.deepEqual(await client.get('/v2/compute/qemu/images'), []);
  });

  test('a slow upload that keeps sending completes', async () => {
    const connection = half(`POST ${image}`, 'Content-Length: 35\r\n\r\n');
    for (let sent = 0; sent < 35; sent++) {
      connection.write('x');
      // The pauses are in total longer than an upload may stall.
      await new Promise((done) => setTimeout(done, 100));
    }
    assert.equal((await connection.reply()).status, 204);
    connection.close();
  });
});

test('frames against the protocol end their WebSocket, and are no error in the log', async () => {
  // Frames that are not masked; longer than any message may be; of an unknown kind.
  for (const frame of ['8105aaaaaaaaaa', '81ff7fffffffffffffff00000000', '8780aaaaaaaa']) {
    const socket = new BareConnection(server.port);
    socket.write(requestText('GET /v2/notifications/ws', { Host: '127.0.0.1', ...upgrade }));
    await waitFor(() => socket.received.includes('101 '), { what: 'the WebSocket' });
    socket.write(Buffer.from(frame, 'hex'));
    await waitFor(() => socket.ended, { what: 'its end' });
  }
  assert.doesNotMatch(server.log(), /"level":50[^\n]*WS_ERR/);
});
