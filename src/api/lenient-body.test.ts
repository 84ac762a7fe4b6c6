import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LinkInput } from '../schema/link.ts';
import { NodeCreate, NodeUpdate } from '../schema/node.ts';
import { lenient } from './lenient-body.ts';

test('keys with two underscores are left out, others stay', () => {
  const body = JSON.parse('{"__pydantic_initialised__": true, "__proto__": {"x": 1}, "name": "a", "_x": 1}');
  assert.deepEqual(Object.keys(lenient(NodeUpdate, body) as object), ['__proto__', 'name', '_x']);
});

test('fractions of pixels are rounded, also in labels; other numbers are not', () => {
  const body = { x: 1.5, y: -2.5, z: 0.4, width: null, name: 'a', console: 1.5, label: { text: 'a', x: 3.7, y: 'a' } };
  const rounded = { x: 2, y: -2, z: 0, width: null, name: 'a', console: 1.5, label: { text: 'a', x: 4, y: 'a' } };
  assert.deepEqual(lenient(NodeUpdate, body), rounded);
  assert.deepEqual(body.label.x, 3.7, 'the body itself is not changed');
  const nodes = [{ node_id: 'n', adapter_number: 0.5, port_number: 0, label: { text: 'a', x: 1.2, y: 2 } }];
  assert.deepEqual(lenient(LinkInput, { nodes }), { nodes: [{ ...nodes[0], label: { text: 'a', x: 1, y: 2 } }] });
});

test('a body that needs nothing is returned as it is, whatever it is', () => {
  const body = { name: 'a', x: 1, properties: { x: 1.5 } };
  assert.equal(lenient(NodeCreate, body), body);
  for (const value of [null, 1.5, 'a', [{ x: 1.5 }], [], true]) assert.equal(lenient(NodeUpdate, value), value);
});
