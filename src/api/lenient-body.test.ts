import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BulkCreate } from '../schema/bulk.ts';
import { LabRequest } from '../schema/lab.ts';
import { LinkInput } from '../schema/link.ts';
import { NodeCreate, NodeUpdate } from '../schema/node.ts';
import { TemplateCreate } from '../schema/template.ts';
import { lenient } from './lenient-body.ts';

test('keys with two underscores are left out, others stay', () => {
  const body = JSON.parse('{"__pydantic_initialised__": true, "__proto__": {"x": 1}, "name": "a", "_x": 1}');
  assert.deepEqual(Object.keys(lenient(NodeUpdate, body) as object), ['__proto__', 'name', '_x']);
});

test('they are left out of every object whose keys the server names, and of no map of its users', () => {
  const old = { __pydantic_initialised__: true };
  const end = { node_id: 'n', adapter_number: 0, port_number: 0 };
  const label = { text: 'a', x: 1, y: 2 };
  const adapter = { adapter_number: 0 };
  const port = { port_number: 0, type: 'access', vlan: 1 };
  const circuits = { mappings: { __a: '1:2' } };
  const node = { name: 'a', label, properties: { ports_mapping: [port], ...circuits } };
  const olds = {
    ...{ ...old, name: 'a', label: { ...label, ...old } },
    properties: { ...old, ports_mapping: [{ ...port, ...old }], ...circuits },
  };
  assert.deepEqual(lenient(BulkCreate, { nodes: [olds, node], ...old }), { nodes: [node, node] });
  assert.deepEqual(lenient(NodeUpdate, { properties: { custom_adapters: [{ ...adapter, ...old }] } }), {
    properties: { custom_adapters: [adapter] },
  });
  const filters = { delay: [5] };
  assert.deepEqual(
    lenient(LinkInput, { nodes: [{ ...end, ...old, label: { ...label, ...old } }], filters: { ...filters, ...old } }),
    {
      nodes: [{ ...end, label }],
      filters,
    },
  );
  assert.deepEqual(lenient(TemplateCreate, { custom_adapters: [{ ...adapter, ...old }], ports_mapping: [{ ...port, ...old }] }), {
    custom_adapters: [adapter],
    ports_mapping: [port],
  });
  const users = { vars: { __a: 'b' }, files: { __a: 'b' }, lab: { nodes: { __a: {} }, links: [{ __a: 1 }] } };
  assert.equal(lenient(LabRequest, users), users);
  const style = { link_style: { __a: 1 } };
  assert.equal(lenient(LinkInput, style), style);
});

test('__proto__ stays a key where it stands, and becomes no prototype', () => {
  const at = (text: string) => JSON.parse(text.replaceAll('@', '{"__proto__": {"x": 1}, "__proto__x": 1, "__old": 1}'));
  const after = lenient(NodeUpdate, at('{"label": @, "properties": {"__proto__": 5, "ports": [@]}, "__old": 1}'));
  assert.deepEqual(
    JSON.stringify(after),
    JSON.stringify(
      JSON.parse(
        '{"label":{"__proto__":{"x":1},"__proto__x":1},"properties":{"__proto__":5,"ports":[{"__proto__":{"x":1},"__proto__x":1}]}}',
      ),
    ),
  );
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
