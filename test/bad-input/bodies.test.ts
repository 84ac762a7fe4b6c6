/** Bodies that are no JSON, no UTF-8, or far too large, on every route that reads one. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { withServer } from '../support/with-server.ts';
import { withFixture, worldOf } from './fixture.ts';
import { fill } from './json-route.ts';
import { programRoutes } from './program-routes.ts';

const bench = await withServer();
const fixture = await withFixture(bench);

const rawRoutes = /\/files\/|\/(new_)?images\/|\/import$|\/raw$|\/ws$|\/pcap$|\/streams\/|\/bytes\/|\{action\}|notifications/;
const lines = (await programRoutes(bench.client))
  .filter(({ method, template }) => method !== 'DELETE' && !rawRoutes.test(template))
  .map(({ method, template }) => `${method} ${template}`);
const target = (line: string) =>
  fill(line, {
    ...fixture.ids,
    adapter_number: '0',
    port_number: '0',
    emulator: 'qemu',
    ...(line.includes('/qemu/nodes') ? { node_id: fixture.ids.vm_id as string } : {}),
  });

const malformed: (string | Uint8Array)[] = [
  '{',
  '}',
  '{"name": }',
  '{"name": "x",}',
  "{'name': 'x'}",
  '{name: "x"}',
  '{"name": "x"} trailing',
  '{"name": "x"}{"name": "y"}',
  'nul',
  'NaN',
  'undefined',
  '{"name": "\u0001"}',
  '{"name": "x',
  '\ufeff{"name": "x"}',
  ' ',
  '\0',
  '<xml/>',
  '--boundary\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n--boundary--',
  '['.repeat(100_000),
  '{"a":'.repeat(50_000),
  Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00),
  Buffer.concat([Buffer.from('{"name": "'), Uint8Array.of(0xc3, 0x28), Buffer.from('"}')]),
  Buffer.concat([Buffer.from('{"name": "'), Uint8Array.of(0xed, 0xa0, 0x80), Buffer.from('"}')]),
  Uint8Array.of(0x80),
];

/** All routes read a body in the same way: each gets four of the texts, and the first of each method all of them. */
const perRoute = 4;
const seenMethods = new Set<string>();

function malformedFor(line: string, index: number): readonly (string | Uint8Array)[] {
  const [method = ''] = line.split(' ');
  const isFirst = !seenMethods.has(method);
  seenMethods.add(method);
  return isFirst
    ? malformed
    : Array.from({ length: perRoute }, (_, at) => malformed[(index * perRoute + at) % malformed.length] ?? '{');
}

describe('bodies that are no JSON', () => {
  for (const [index, line] of lines.entries()) {
    test(`${line}: 400, nothing changes`, async () => {
      for (const raw of malformedFor(line, index)) {
        const reply = await bench.client.send(target(line), { raw });
        const { request } = expectFault(reply, 400);
        assert.ok(JSON.stringify(request ?? {}).length < 20_000);
      }
    });
  }
  test('and the state is unchanged', async () => {
    const world = await worldOf(bench, fixture);
    assert.equal((world.nodes as unknown[]).length, fixture.nodes);
    assert.equal((world.projects as unknown[]).length, 1);
  });
});

describe('bodies of 10 MB', () => {
  const large = Buffer.from(JSON.stringify({ name: 'x'.repeat(10_000_000) }));
  for (const line of lines) {
    test(`${line}: 413`, async () => {
      expectFault(await bench.client.send(target(line), { raw: large }), 413);
    });
  }
  test('in chunks, without a length: 413', async () => {
    const head = 'POST /v2/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n';
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
    assert.match(await talk(head + chunk.repeat(160)), /^HTTP\/1\.1 413 /);
    assert.match(await talk(head + chunk.repeat(18)), /^HTTP\/1\.1 413 /);
    await bench.client.get('/v2/version');
  });
});

/** A server that answers before it has read the whole body may reset the connection; a lost response is no defect then. */
describe('very long names', () => {
  const long = 'n'.repeat(100_000);
  const bodies: [string, Record<string, unknown>][] = [
    ['POST /v2/projects', { name: long }],
    ['PUT /v2/projects/{project_id}', { name: long }],
    ['POST /v2/projects/{project_id}/duplicate', { name: long }],
    ['POST /v2/projects/{project_id}/nodes', { name: long, node_type: 'vpcs', compute_id: 'local' }],
    ['PUT /v2/projects/{project_id}/nodes/{node_id}', { name: long }],
    ['POST /v2/compute/projects/{project_id}/qemu/nodes', { name: long }],
    ['POST /v2/compute/projects/{project_id}/vpcs/nodes', { name: long }],
    ['POST /v2/compute/projects', { name: long }],
    ['POST /v2/computes', { name: long, protocol: 'http', host: 'x', port: 1 }],
    ['POST /v2/computes', { name: 'x', protocol: 'http', host: long, port: 1 }],
    ['POST /v2/projects/{project_id}/drawings', { name: long }],
  ];
  for (const [line, body] of bodies) {
    test(`${line}: 400, and the answer does not repeat it`, async () => {
      const before = await worldOf(bench, fixture);
      const reply = await bench.client.send(fill(line, fixture.ids), { body });
      expectFault(reply, 400);
      assert.ok(reply.bytes.length < 20_000, `${reply.bytes.length} bytes`);
      assert.deepEqual(await worldOf(bench, fixture), before);
    });
  }

  test('an address of 100,000 characters is refused by HTTP', async () => {
    const answer = await talk(`GET /v2/projects/${long} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`, 60_000);
    assert.match(answer, /^HTTP\/1\.1 4\d\d /);
  });
});

describe('requests that are no HTTP', () => {
  const texts = [
    'nonsense\r\n\r\n',
    'GET  /v2/version HTTP/9.9\r\n\r\n',
    'POST /v2/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n',
    'POST /v2/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nx',
    `GET /v2/version HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
    'GET /v2/\0version HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  ];
  for (const text of texts) {
    test(`${JSON.stringify(text.slice(0, 60))}: refused, the server lives`, async () => {
      assert.match(await talk(text), /^HTTP\/1\.1 4\d\d |^$/);
      await bench.client.get('/v2/version');
    });
  }

  test('a body shorter than announced, then the client goes away: nothing is made', async () => {
    const before = await worldOf(bench, fixture);
    const socket = connect(bench.server.port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write('POST /v2/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n{"name": "half');
    socket.destroySoon();
    await new Promise((resolve) => socket.once('close', resolve));
    assert.deepEqual(await worldOf(bench, fixture), before);
  });
});

/**
 * Sends bytes on a separate connection; resolves to the response once it has a status line or the connection ends, and to what came by
 * then after a silence: not every such text is answered.
 */
function talk(text: string, silenceMs = 5000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(bench.server.port, '127.0.0.1');
    let answer = '';
    const done = () => {
      socket.destroy();
      resolve(answer);
    };
    socket.setEncoding('latin1');
    socket.setTimeout(silenceMs, done);
    socket.on('data', (data: string) => {
      answer += data;
      if (/^HTTP\/1\.1 \d{3} [\s\S]*?\r\n\r\n/.test(answer)) done();
    });
    socket.on('close', done);
    socket.on('error', done);
    socket.write(text, 'latin1');
  });
}
