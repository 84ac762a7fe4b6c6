import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabFile } from '../../../lab/file/lab-schema.ts';
import { keyOptions, type LabSchema, valueOptions } from './schema-options.ts';

const schema = LabFile as unknown as LabSchema;
const labels = (options: readonly { label: string }[]) => options.map(({ label }) => label);

test('the keys of the file, of a node, of a link and of what it holds', () => {
  assert.ok(labels(keyOptions(schema, [], undefined)).includes('links'));
  const node = keyOptions(schema, ['nodes', 'R1'], undefined);
  assert.match(node.find(({ label }) => label === 'memory')?.description ?? '', /MiB/);
  assert.ok(labels(keyOptions(schema, ['links', '-'], undefined)).includes('filters'));
  assert.ok(labels(keyOptions(schema, ['links', '-', 'schedule', 'steps', '-'], undefined)).includes('ramp'));
  assert.deepEqual(keyOptions(schema, ['nodes', 'R1', 'kind', 'x'], undefined), []);
});

test('the values of a choice', () => {
  assert.ok(labels(valueOptions(schema, ['nodes', 'R1', 'kind'], undefined)).includes('qemu'));
  assert.deepEqual(labels(valueOptions(schema, ['links', '-', 'suspend'], undefined)), ['true', 'false']);
});

test('the properties of the kind of a node', () => {
  // An object with a member `then` looks like a promise to linters.
  const node: LabSchema = Object.fromEntries([
    ['if', { properties: { kind: { const: 'qemu' } } }],
    ['then', { properties: { properties: { properties: { ram: {} } } } }],
  ]);
  const own: LabSchema = { properties: { nodes: { patternProperties: { '^.*$': { anyOf: [{ allOf: [node] }] } } } } };
  const path = ['nodes', 'R1', 'properties'];
  assert.deepEqual(labels(keyOptions(own, path, 'qemu')), ['ram']);
  assert.deepEqual(labels(keyOptions(own, path, 'vpcs')), []);
});
