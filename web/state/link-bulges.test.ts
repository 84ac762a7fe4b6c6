import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { linkBulges } from './link-bulges.ts';

const link = (link_id: string, one: string, other: string) =>
  ({ link_id, nodes: [{ node_id: one }, { node_id: other }] }) as unknown as Link;
const all = [link('1', 'a', 'c'), link('2', 'c', 'b'), link('3', 'a', 'd')];

it('links of the same two nodes bend aside, and no other ones', () => {
  assert.deepEqual(
    [...linkBulges([...all, link('4', 'c', 'a')], new Map())],
    [
      ['1', -13],
      ['4', 13],
    ],
  );
});

it('links of nodes in a collapsed group bend aside, as those of one node', () => {
  const group = { id: 'group' };
  const hidden = new Map([
    ['a', group],
    ['b', group],
  ]);
  assert.deepEqual(
    [...linkBulges(all, hidden)],
    [
      ['1', -13],
      ['2', 13],
    ],
  );
  const many = linkBulges(
    Array.from({ length: 100 }, (_, number) => link(String(number), number % 2 ? 'a' : 'b', 'c')),
    hidden,
  );
  assert.equal(new Set(many.values()).size, 100);
  assert.ok(Math.max(...many.values()) <= 130);
});
