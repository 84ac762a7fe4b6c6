/** Wrong types, unknown keys and unpleasant values in every field of every route with a JSON body. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, tinyVm, withServer } from '../support/with-server.ts';
import { withFixture, worldOf } from './fixture.ts';
import { fill, withValue } from './json-route.ts';
import { jsonRoutes } from './json-routes.ts';
import { jsonRoutesOf, programRoutes } from './program-routes.ts';
import { allHostileTexts, hostileTexts, wrongValues } from './wrong-values.ts';

const bench = await withServer();
const fixture = await withFixture(bench);
/** State that stays the same while all that is sent is refused. */
const world = await worldOf(bench, fixture);

const tried = jsonRoutesOf(await programRoutes(bench.client), jsonRoutes);

/** A printable text for test messages, for any value. */
const show = (value: unknown) => (JSON.stringify(value) ?? '').slice(0, 60);

test('a route or field that the program no longer has fails', async () => {
  const program = await programRoutes(bench.client);
  const [route] = jsonRoutes.filter(({ line }) => line === 'POST /v2/projects');
  assert.ok(route);
  assert.throws(() => jsonRoutesOf(program, [{ ...route, line: 'POST /v2/renamed' }]), /does not have:\nPOST \/v2\/renamed$/);
  const fields = { renamed: { is: 'text' } } as const;
  assert.throws(() => jsonRoutesOf(program, [{ ...route, fields }]), /does not have:\nPOST \/v2\/projects: renamed$/);
});

describe('wrong types', () => {
  for (const route of tried) {
    test(`${route.line}: each of ${Object.keys(route.fields).length} fields refuses values of other types`, async () => {
      const line = fill(route.line, fixture.ids);
      const good = route.good(fixture.ids);
      const wrong: string[] = [];
      for (const [field, sort] of Object.entries(route.fields)) {
        for (const [index, value] of wrongValues(sort).entries()) {
          // Fractions of pixels are rounded.
          if (value === 1.5 && /(^|\.)(x|y|z|width|height|scene_width|scene_height)$/.test(field)) continue;
          const body = withValue(good, field, value);
          // The first value shows that the route checks by its schema; of the others, the schema itself is asked where it refuses them.
          if (index > 0 && route.refuses?.(body)) continue;
          const reply = await bench.client.send(line, { body });
          if (reply.status === 400) expectFault(reply, 400);
          else wrong.push(`${field} = ${show(value)}: ${reply.status} ${reply.text().slice(0, 200)}`);
        }
      }
      assert.deepEqual(wrong, []);
      assert.deepEqual(await worldOf(bench, fixture), world);
    });
  }
});

describe('keys and bodies that are not known', () => {
  for (const route of tried) {
    test(`${route.line}`, async () => {
      const line = fill(route.line, fixture.ids);
      const good = JSON.stringify(route.good(fixture.ids)).slice(1);
      const comma = good === '}' ? '' : ',';
      if (!route.open) {
        for (const key of ['nonsense', '__proto__', 'constructor', 'toString', '']) {
          expectFault(await bench.client.send(line, { raw: `{"${key}": 1${comma}${good}` }), 400);
        }
      }
      for (const raw of ['[]', '[1]', '"x"', '5', 'true', 'null']) expectFault(await bench.client.send(line, { raw }), 400);
      assert.deepEqual(await worldOf(bench, fixture), world);
    });
  }
});

describe('unpleasant values are taken or refused, and break nothing', () => {
  const marker = '/tmp/pb-hostile';
  after(() => assert.ok(!existsSync(marker), 'a value was run by a shell'));
  for (const route of tried) {
    test(`${route.line}`, async () => {
      const line = fill(route.line, fixture.ids);
      const bad: string[] = [];
      for (const [index, [field, sort]] of Object.entries(route.fields).entries()) {
        for (const text of index === 0 ? allHostileTexts : hostileTexts(sort)) {
          const marked = JSON.stringify(withValue(route.good(fixture.ids), field, '@@'));
          const reply = await bench.client.send(line, { raw: marked.replace('"@@"', text) });
          if (reply.status >= 500) bad.push(`${field} = ${text.slice(0, 60)}: ${reply.status} ${reply.text().slice(0, 200)}`);
          else if (reply.status >= 400) expectFault(reply, [400, 403, 404, 409]);
        }
      }
      assert.deepEqual(bad, []);
      await worldOf(bench, fixture);
    });
  }
});

test('a project is exported whatever its name', async () => {
  expectStatus(await bench.client.send('POST /v2/projects', { raw: '{"name": "half \\ud800"}' }), 400);
  for (const raw of ['{"name": "é \\" %s"}', '{"name": "\\ud83e\\udd80"}']) {
    const { project_id } = expectStatus(await bench.client.send('POST /v2/projects', { raw }), 201).json();
    const reply = expectStatus(await bench.client.send(`GET /v2/projects/${project_id}/export`), 200);
    assert.match(
      String(reply.headers['content-disposition']),
      /^attachment; filename="[\x20-\x7e]+\.gns3project"; filename\*=UTF-8''/,
    );
    await bench.client.delete(`/v2/projects/${project_id}`);
  }
});

test('custom adapters of a wrong shape are refused among the properties, too', async () => {
  const project = await createProject(bench.client);
  const node = await createNode(bench.client, project, 'qemu', { properties: tinyVm });
  const path = `${project.path}/nodes/${node.node_id}`;
  for (const custom_adapters of ['text', [{ adapter_number: 'one' }], [{ adapter_number: 0, mac_address: 5 }]])
    expectStatus(await bench.client.send(`PUT ${path}`, { body: { properties: { custom_adapters } } }), 400);
  await bench.client.put(path, { properties: { custom_adapters: [{ adapter_number: 0, port_name: 'uplink' }] } });
  await bench.client.post(`${project.path}/close`, {}, 204);
  await bench.client.post(`${project.path}/open`);
  await bench.client.delete(project.path);
});

test('a node keeps its console when a client says null', async () => {
  const project = await createProject(bench.client);
  const node = await createNode(bench.client, project);
  const path = `${project.path}/nodes/${node.node_id}`;
  assert.equal((await bench.client.put(path, { console: null, x: 5 })).console, node.console);
  await bench.client.post(`${project.path}/close`, {}, 204);
  await bench.client.post(`${project.path}/open`);
  assert.equal((await bench.client.get(path)).console, node.console);
  await bench.client.delete(project.path);
});
