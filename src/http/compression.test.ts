import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { fault } from '../api/faults.ts';
import { route, Stream, Tagged } from '../api/route.ts';
import { acceptsGzip } from './compression.ts';
import { createHttpServer } from './server.ts';

const many = Array.from({ length: 1000 }, (_, number) => ({ number, name: `N${number}` }));
const app = await createHttpServer({
  routes: [
    route('GET /v2/many', { right: 'open', summary: '' }, () => many),
    route('GET /v2/few', { right: 'open', summary: '' }, () => [1, 2, 3]),
    route('GET /v2/tagged', { right: 'open', summary: '' }, () => new Tagged(many)),
    route('GET /v2/none', { right: 'open', summary: '', status: 204 }, () => undefined),
    route('GET /v2/fails', { right: 'open', summary: '' }, () =>
      Promise.reject(fault('project_not_found', { project_id: 'x'.repeat(10_000) })),
    ),
    route(
      'GET /v2/stream',
      { right: 'open', summary: '' },
      () => new Stream('application/json', Readable.from(['"', 'x'.repeat(5000), '"'])),
    ),
    route('GET /v2/file', { right: 'open', summary: '' }, () => new Stream('application/octet-stream', Buffer.alloc(5000))),
  ],
  log: pino({ level: 'silent' }),
  serverHeader: 'Patchbay/0 GNS3/2.2.60',
  allowedOrigins: [],
});
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
after(() => app.close());

/** Requests with Node's own client: it neither asks for an encoding nor undoes one. */
async function ask(path: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ host: '127.0.0.1', port, path, headers }, resolve).on('error', reject).end();
  const answer = await promise;
  return { status: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) };
}
const gzip = { 'accept-encoding': 'gzip, deflate' };

describe('an answer in JSON', () => {
  it('is compressed for a client that accepts gzip, with the length of the compressed bytes', async () => {
    const plain = await ask('/v2/many');
    const answer = await ask('/v2/many', gzip);
    assert.equal(answer.headers['content-encoding'], 'gzip');
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.equal(answer.headers['content-length'], String(answer.bytes.length));
    assert.equal(answer.headers.vary, 'Accept-Encoding');
    assert.ok(answer.bytes.length < plain.bytes.length / 4, `${answer.bytes.length} of ${plain.bytes.length} bytes`);
    assert.ok(gunzipSync(answer.bytes).equals(plain.bytes));
  });

  it('is plain for a client that does not', async () => {
    for (const headers of [{}, { 'accept-encoding': 'identity' }, { 'accept-encoding': 'gzip;q=0' }, { 'accept-encoding': 'br' }]) {
      const answer = await ask('/v2/many', headers);
      assert.equal(answer.headers['content-encoding'], undefined);
      assert.equal(answer.headers['content-length'], String(answer.bytes.length));
      assert.deepEqual(JSON.parse(answer.bytes.toString()), many);
    }
  });

  it('is plain when it is short or empty', async () => {
    assert.equal((await ask('/v2/few', gzip)).headers['content-encoding'], undefined);
    assert.equal((await ask('/v2/none', gzip)).headers['content-encoding'], undefined);
  });

  it('is compressed when it is an error', async () => {
    const { status, headers, bytes } = await ask('/v2/fails', gzip);
    assert.deepEqual([status, headers['content-encoding']], [404, 'gzip']);
    assert.equal((JSON.parse(gunzipSync(bytes).toString()) as { status: number }).status, 404);
  });

  it('has a weak tag when it is compressed, which is known again', async () => {
    const { headers } = await ask('/v2/tagged', gzip);
    assert.match(headers.etag ?? '', /^W\/"/);
    assert.equal((await ask('/v2/tagged', { ...gzip, 'if-none-match': headers.etag ?? '' })).status, 304);
  });
});

describe('a stream or a file', () => {
  for (const path of ['/v2/stream', '/v2/file'])
    it(`is sent as it is: ${path}`, async () => {
      const { headers, bytes } = await ask(path, gzip);
      assert.equal(headers['content-encoding'], undefined);
      assert.ok(bytes.length >= 5000);
    });
});

describe('Accept-Encoding', () => {
  for (const header of ['gzip', 'deflate, gzip;q=0.5', 'GZIP', 'x-gzip', '*', 'br;q=1.0, *;q=0.1'])
    it(`accepts gzip: ${header}`, () => assert.equal(acceptsGzip(header), true));
  for (const header of [undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.0, *', '*;q=0', 'gzip;q=x', 'identity'])
    it(`does not: ${header}`, () => assert.equal(acceptsGzip(header), false));
});
