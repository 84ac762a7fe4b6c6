/** Unknown and malformed ids in every parameter of every route. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { withServer } from '../support/with-server.ts';
import { withFixture, worldOf } from './fixture.ts';
import { fill } from './json-route.ts';
import { jsonRoutes } from './json-routes.ts';
import { type ProgramRoute, programRoutes } from './program-routes.ts';

const bench = await withServer();
const fixture = await withFixture(bench);
const routes = await programRoutes(bench.client);

const strange = [
  randomUUID(),
  'nope',
  '0',
  '..',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '%00',
  '%0d%0aX-Injected:%201',
  '%ff%fe',
  '%',
  '__proto__',
  'constructor',
  "'%22%3Cscript%3E",
  'x'.repeat(5000),
];
/** More of the same sorts, for the first route of each parameter: all routes decode a path in the same way. */
const similar = ['-1', '%20', '%2e%2e', 'a%00b', '%c3%28', '%zz', '%F0%9F%A6%80', 'toString', '{project_id}'];
const seenParameters = new Set<string>();
/** Statuses for an unknown id; deleting an unknown compute is answered with 204. */
const refusals = [400, 403, 404, 405, 409, 414];

const known: Record<string, string> = {
  adapter_number: '0',
  port_number: '0',
  emulator: 'qemu',
  action: 'nothing',
  path: 'none.txt',
  symbol_id: 'none.svg',
  filename: 'none.img',
};

/** Line with the same word for each parameter that another table names otherwise. */
const plain = (line: string) => line.replaceAll(/\/(\{(adapter|port)_number\}|0)(?=\/)/g, '/{n}');
const withBody = new Map(
  jsonRoutes.map((route) => [plain(fill(route.line, { remote_id: '{compute_id}', vm_id: '{node_id}' })), route]),
);

async function tryRoute({ method, template }: ProgramRoute, parameter: string): Promise<string[]> {
  const bad: string[] = [];
  const isFile = ['path', 'filename', 'action', 'symbol_id'].includes(parameter);
  const isNumber = parameter.endsWith('_number');
  const route = withBody.get(plain(`${method} ${template}`));
  const values = seenParameters.has(parameter) ? strange : [...strange, ...similar];
  seenParameters.add(parameter);
  for (const value of values.filter((each) => !isNumber || each !== '0')) {
    const ids = { ...fixture.ids, ...known, ...(template.includes('/qemu/nodes') ? { node_id: fixture.ids.vm_id as string } : {}) };
    const path = fill(template, { ...ids, [parameter]: value });
    const reply = await bench.client.send(`${method} ${path}`, { raw: JSON.stringify(route?.good(fixture.ids) ?? {}) });
    const allowed = isFile || /DELETE \/v2\/computes/.test(`${method} ${template}`) ? [200, 201, 204, ...refusals] : refusals;
    const isListed = parameter === 'emulator' || allowed.includes(reply.status);
    if (!isListed || reply.status >= 500) bad.push(`${value.slice(0, 40)}: ${reply.status} ${reply.text().slice(0, 200)}`);
    else if (reply.status >= 400 && reply.headers['content-type'] === 'application/json') expectFault(reply, reply.status);
    assert.equal(reply.headers['x-injected'], undefined);
  }
  return bad;
}

test('the routes were found', () => {
  const lines = routes.map(({ method, template }) => `${method} ${template}`);
  for (const line of [
    'GET /v2/projects/{project_id}/links',
    'POST /v2/compute/projects/{project_id}/qemu/nodes',
    'GET /v2/compute/qemu/binaries',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.ok(lines.length >= 80, `${lines.length} routes`);
});

describe('every parameter of every route', () => {
  for (const line of routes) {
    const parameters = [...line.template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    for (const parameter of parameters) {
      test(`${line.method} ${line.template}: ${parameter}`, async () => {
        assert.deepEqual(await tryRoute(line, parameter), []);
      });
    }
  }

  test('and the state is unchanged', async () => {
    const world = await worldOf(bench, fixture);
    assert.equal((world.nodes as unknown[]).length, fixture.nodes);
    assert.equal((world.links as unknown[]).length, 1);
  });
});

describe('ids in bodies', () => {
  test('a link to unknown nodes', async () => {
    const end = (node_id: string) => ({ node_id, adapter_number: 0, port_number: 0 });
    const before = await worldOf(bench, fixture);
    for (const id of [randomUUID(), fixture.ids.project_id as string, fixture.ids.link_id as string]) {
      const body = { nodes: [end(fixture.ids.node_id as string), end(id)] };
      expectFault(await bench.client.send(`POST ${fixture.project.path}/links`, { body }), 404, /Node ID/);
    }
    assert.deepEqual(await worldOf(bench, fixture), before);
  });

  test('a node on an unknown compute', async () => {
    for (const compute_id of [randomUUID(), '..', '__proto__', 'x'.repeat(4000)]) {
      const body = { name: 'x', node_type: 'vpcs', compute_id };
      expectFault(await bench.client.send(`POST ${fixture.project.path}/nodes`, { body }), 404, /Compute ID/);
    }
  });

  test('a node that cannot be made here: 409 that says so', async () => {
    const before = await worldOf(bench, fixture);
    const body = { name: 'x', node_type: 'docker', compute_id: 'local', properties: { image: 'none' } };
    expectFault(await bench.client.send(`POST ${fixture.project.path}/nodes`, { body }), [404, 409]);
    assert.deepEqual(await worldOf(bench, fixture), before);
  });

  test('a node without the required properties of its kind: 400', async () => {
    const before = await worldOf(bench, fixture);
    for (const node_type of ['dynamips', 'iou', 'virtualbox', 'vmware']) {
      const body = { name: 'x', node_type, compute_id: 'local' };
      expectFault(await bench.client.send(`POST ${fixture.project.path}/nodes`, { body }), 400);
    }
    assert.deepEqual(await worldOf(bench, fixture), before);
  });
});
