/** Rules for every request and response: headers, the form of JSON, errors, limits. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, freshName, type ProjectHandle, withServer } from '../support/with-server.ts';

const bench = await withServer();
const nowhere = '/v2/projects/00000000-0000-4000-8000-000000000000';
let project: ProjectHandle;
before(async () => {
  project = await createProject(bench.client);
});

/** Request line, status, X-Route; `P` is the project. */
const answers = [
  ['GET /v2/version', 200, '/v2/version'],
  ['GET /v2/projects', 200, '/v2/projects'],
  ['GET P', 200, '/v2/projects/{project_id}'],
  ['GET P/links', 200, '/v2/projects/{project_id}/links'],
  ['GET P/nodes', 200, '/v2/projects/{project_id}/nodes'],
  ['GET /v2/computes', 200, '/v2/computes'],
  ['GET /v2/computes/local', 200, '/v2/computes/{compute_id}'],
  ['GET /v2/computes/local/ports', 200, '/v2/computes/{compute_id}/ports'],
  ['GET /v2/computes/local/qemu/images', 200, '/v2/computes/{compute_id}/{emulator}/images'],
  ['GET /v2/computes/local/qemu/binaries', 200, '/v2/computes/{compute_id}/{emulator}/{action:.+}'],
  ['GET /v2/computes/endpoint/local/qemu/a/b', 200, '/v2/computes/endpoint/{compute_id}/{emulator}/{action:.+}'],
  ['GET /v2/compute/qemu/binaries', 200, '/v2/compute/qemu/binaries'],
  ['GET /v2/compute/network/ports', 200, '/v2/compute/network/ports'],
  ['POST P/open', 201, '/v2/projects/{project_id}/open'],
  ['POST P/nodes', 400, '/v2/projects/{project_id}/nodes'],
  ['POST P/links', 400, '/v2/projects/{project_id}/links'],
  ['POST P/duplicate', 400, '/v2/projects/{project_id}/duplicate'],
  ['POST /v2/computes', 400, '/v2/computes'],
  ['GET X/links', 404, '/v2/projects/{project_id}/links'],
  ['GET P/links/none', 404, '/v2/projects/{project_id}/links/{link_id}'],
  ['GET P/nodes/none', 404, '/v2/projects/{project_id}/nodes/{node_id}'],
  ['GET /v2/computes/none', 404, '/v2/computes/{compute_id}'],
  ['GET /v2/computes/none/ports', 404, '/v2/computes/{compute_id}/ports'],
  ['DELETE X', 404, '/v2/projects/{project_id}'],
] as const;

describe('every answer', () => {
  for (const [line, status, route] of answers) {
    test(`${line}: ${status}, JSON, X-Route ${route}`, async () => {
      const reply = await bench.client.send(line.replace(' P', ` ${project.path}`).replace(' X', ` ${nowhere}`));
      if (status >= 400) expectFault(reply, status);
      expectStatus(reply, status);
      assert.equal(reply.headers['content-type'], 'application/json');
      assert.equal(reply.headers['x-route'], route);
    });
  }

  test('409 and 413 carry X-Route too', async () => {
    const node = await createNode(bench.client, project);
    const conflict = await bench.client.send(`POST ${project.path}/links`, { body: { nodes: [end(node), end(node)] } });
    expectFault(conflict, 409);
    assert.equal(conflict.headers['x-route'], '/v2/projects/{project_id}/links');
    const large = await bench.client.send('POST /v2/projects', { raw: `{"name": "${'x'.repeat(1_048_576)}"}` });
    expectFault(large, 413);
    assert.equal(large.headers['x-route'], '/v2/projects');
  });

  test('204 has no body and no Content-Type', async () => {
    const { path } = await createProject(bench.client);
    const reply = expectStatus(await bench.client.send(`DELETE ${path}`), 204);
    assert.equal(reply.bytes.length, 0);
    assert.equal(reply.headers['content-type'], undefined);
    assert.equal(reply.headers['x-route'], '/v2/projects/{project_id}');
  });

  test('keys are sorted at every depth, the text is indented by four spaces', async () => {
    await createNode(bench.client, project);
    for (const path of ['/v2/projects', `${project.path}/nodes`, '/v2/computes']) {
      const reply = await bench.client.send(`GET ${path}`);
      const sorted = (_key: string, value: unknown): unknown =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
          : value;
      const expected = JSON.stringify(JSON.parse(reply.text()), sorted, 4);
      // Brackets of empty lists and objects may be written on one line.
      assert.equal(reply.text(), expected, path);
    }
  });

  test('text outside ASCII survives the way there and back', async () => {
    const name = `Größe ✓ ${String.fromCodePoint(0x1f980)}`;
    const made = await createProject(bench.client, { name });
    assert.equal((await bench.client.get<{ name: string }>(made.path)).name, name);
  });

  test('an error is an object of message and status; 400 adds method, route and request', async () => {
    const missing = expectFault(await bench.client.send(`GET ${nowhere}`), 404, /00000000-0000-4000-8000-000000000000/);
    assert.deepEqual(Object.keys(missing), ['message', 'status']);
    const bad = expectFault(await bench.client.send('POST /v2/projects?', { body: { name: 5 } }), 400);
    assert.equal(bad.method, 'POST');
    assert.equal(bad.path, '/v2/projects');
    assert.deepEqual(bad.request, { name: 5 });
  });
});

describe('addresses that are no route', () => {
  for (const path of ['/v2/nothing', '/v2', '/v4/version', '/v2/version/', '//v2/version', '/v2/projects//links/x/y/z']) {
    test(`GET ${path}: 404 in plain text`, async () => {
      const reply = expectStatus(await bench.client.send(`GET ${path}`), 404);
      assert.match(reply.headers['content-type'] ?? '', /^text\/plain/);
      assert.equal(reply.text(), '404: Not Found');
      assert.equal(reply.headers['x-route'], undefined);
    });
  }
  for (const line of ['DELETE /v2/version', 'HEAD /v2/version', 'PATCH /v2/projects', 'PUT /v2/projects']) {
    test(`${line}: 405`, async () => {
      const reply = expectStatus(await bench.client.send(line), 405);
      assert.match(reply.headers.allow ?? '', /GET/);
    });
  }
});

describe('every request', () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'multipart/form-data',
    'nonsense',
    'image/png',
  ];
  for (const type of types) {
    test(`a body is JSON although it calls itself ${type}`, async () => {
      const headers = { 'content-type': type };
      const reply = await bench.client.send('POST /v2/projects', { body: { name: freshName('typed') }, headers });
      expectStatus(reply, 201);
    });
    test(`an empty body of type ${type} is {}`, async () => {
      const reply = await bench.client.send(`POST ${project.path}/open`, { raw: '', headers: { 'content-type': type } });
      expectStatus(reply, 201);
    });
  }

  test('a body without Content-Type is JSON', async () => {
    expectStatus(await bench.client.send('POST /v2/projects', { body: { name: freshName('bare') } }), 201);
  });

  test('an empty application/json body is {}', async () => {
    const headers = { 'content-type': 'application/json' };
    expectStatus(await bench.client.send(`POST ${project.path}/open`, { raw: '', headers }), 201);
    expectFault(await bench.client.send('POST /v2/projects', { raw: '', headers }), 400, /name/);
  });

  test('a body on GET is read', async () => {
    const all = await bench.client.get<unknown[]>('/v2/compute/qemu/binaries');
    const none = await bench.client.send('GET /v2/compute/qemu/binaries', { body: { archs: [] } });
    assert.notDeepEqual(all, []);
    assert.deepEqual(none.json(), []);
  });

  test('query parameters are part of the body and win over it', async () => {
    const [given, wanted] = [freshName('body'), freshName('query')];
    const reply = await bench.client.send(`POST /v2/projects?name=${wanted}`, { body: { name: given } });
    assert.equal(expectStatus(reply, 201).json().name, wanted);
    expectFault(await bench.client.send(`POST /v2/projects?zoom=5&name=x`), 400, /zoom/);
    expectFault(await bench.client.send(`POST /v2/projects?foo=1`, { body: { name: 'x' } }), 400, /foo/);
  });

  test('a body of 1 MiB is read, one byte more is 413 and changes nothing', async () => {
    const fill = (size: number) => {
      const text = JSON.stringify({ name: freshName('large') });
      return text + ' '.repeat(size - text.length);
    };
    expectStatus(await bench.client.send('POST /v2/projects', { raw: fill(1_048_576) }), 201);
    const count = (await bench.client.get<unknown[]>('/v2/projects')).length;
    expectFault(await bench.client.send('POST /v2/projects', { raw: fill(1_048_577) }), 413, /1048576/);
    expectFault(await bench.client.send('GET /v2/compute/qemu/binaries', { raw: fill(1_048_577) }), 413);
    assert.equal((await bench.client.get<unknown[]>('/v2/projects')).length, count);
  });

  test('the body is checked before the object is looked for', async () => {
    expectFault(await bench.client.send(`POST ${nowhere}/duplicate`, { body: { name: 5 } }), 400);
    expectFault(await bench.client.send(`POST ${nowhere}/duplicate`, { body: { name: 'x' } }), 404);
    const id = randomUUID();
    expectFault(await bench.client.send(`POST /v2/compute/projects/${id}/qemu/nodes`, { body: {} }), 400);
    expectFault(await bench.client.send(`POST /v2/compute/projects/${id}/qemu/nodes`, { body: { name: 'x' } }), 404);
  });
});

describe('input that is not an HTTP request', () => {
  const cases: [what: string, sent: string, status: number][] = [
    ['no request line', 'GARBAGE\r\n\r\n', 400],
    ['headers beyond the limit', `GET /v2/version HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['two lengths', 'POST /v2/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  ];
  for (const [what, sent, status] of cases) {
    test(`${what}: ${status} with message and status, and the connection ends`, async () => {
      const socket = connect(bench.server.port, '127.0.0.1').setEncoding('utf8');
      socket.write(sent);
      const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
      assert.match(head, new RegExp(`^HTTP/1.1 ${status} `));
      assert.match(head, /^Content-Type: application\/json$/m);
      const { message, ...rest } = JSON.parse(body) as { message: string };
      assert.match(message, /request/);
      assert.deepEqual(rest, { status });
    });
  }
});
