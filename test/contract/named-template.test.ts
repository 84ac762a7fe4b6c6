/** A node whose request names a template has its settings; nodes of other servers' projects may name one that is not here. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { expectFault } from '../support/raw-http.ts';
import { createProject, freshName, type NodeBody, withServer } from '../support/with-server.ts';

const { client } = await withServer();
const project = await createProject(client);
const { template_id } = await client.post<{ template_id: string }>('/v2/templates', {
  ...{ name: 'Router', template_type: 'qemu', compute_id: 'local', symbol: ':/symbols/router.svg' },
  ...{ ram: 77, adapters: 3, console_type: 'vnc', port_name_format: 'ge{0}' },
});
const wanted = (more: object) => ({ name: freshName('R'), node_type: 'qemu', compute_id: 'local', template_id, ...more });
const settings = ({ properties: { ram, adapters }, console_type, symbol, port_name_format, template_id: of }: NodeBody) => [
  ...[ram, adapters, console_type, symbol, port_name_format, of],
];
const all = [77, 3, 'vnc', ':/symbols/router.svg', 'ge{0}', template_id];

test('one node, with or without values of its own', async () => {
  const made = await client.post<NodeBody>(`${project.path}/nodes`, wanted({}));
  assert.deepEqual(settings(made), all);
  const own = { properties: { ram: 64 }, console_type: 'telnet' };
  const other = await client.post<NodeBody>(`${project.path}/nodes`, wanted(own));
  assert.deepEqual(settings(other), [64, 3, 'telnet', ...all.slice(3)]);
});

test('several at once', async () => {
  const { nodes } = await client.post<{ nodes: NodeBody[] }>(`${project.path}/bulk`, { nodes: [wanted({}), wanted({})] });
  assert.deepEqual(nodes.map(settings), [all, all]);
});

test('the id of an unknown template is kept, and a template of another type is refused', async () => {
  const unknown = randomUUID();
  const made = await client.post<NodeBody>(`${project.path}/nodes`, wanted({ template_id: unknown }));
  assert.deepEqual([made.template_id, made.properties.adapters], [unknown, 1]);
  const body = wanted({ node_type: 'vpcs' });
  expectFault(
    await client.send(`POST ${project.path}/nodes`, { body }),
    400,
    /the template "Router" is for nodes of the type qemu/,
  );
  assert.equal((await client.get<NodeBody[]>(`${project.path}/nodes`)).length, 5);
});
