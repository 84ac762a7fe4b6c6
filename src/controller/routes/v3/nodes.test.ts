import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../../schema/node.ts';
import { nodeOf } from './nodes.ts';

test('an unchanged node is translated once, so that its JSON text is made once', () => {
  const node = Object.freeze({ node_type: 'qemu', properties: Object.freeze({ ram: 96, aux: 5001 }) }) as unknown as Node;
  const shown = nodeOf(node);
  assert.deepEqual(shown, { node_type: 'qemu', properties: { maxcpus: 1, ram: 96, aux: 5001 }, aux: 5001, aux_type: null });
  assert.equal(nodeOf(node), shown);
  assert.ok(Object.isFrozen(shown));
  const changing = { ...node };
  assert.notEqual(nodeOf(changing), nodeOf(changing));
});
