/** Names the links of a storm that are to be suspended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loopClosers, type StormyLink } from './storms.ts';

const figures = { since: '', broadcast_frames: 0, broadcasts_per_second: 0, returned_frames: 0, returned_per_second: 0 };
const link = (linkId: string, ends: string, vlan: number | null = null, in_loop = true): StormyLink => ({
  linkId,
  nodeIds: [ends.charAt(0), ends.charAt(1)],
  storm: { ...figures, in_loop, vlan },
});
const closers = (...links: StormyLink[]) => [...loopClosers(links)].join(' ');

test('all links of a loop but one, and none that only carries the broadcasts', () => {
  assert.equal(closers(link('l1', 'AB'), link('l2', 'AB'), link('l3', 'BA'), link('l4', 'AP', null, false)), 'l2 l3');
  assert.equal(closers(link('l1', 'AB'), link('l2', 'BC'), link('l3', 'CD'), link('l4', 'DA')), 'l4');
  assert.equal(closers(link('l1', 'AA')), 'l1');
  assert.equal(closers(link('l1', 'AB'), link('l2', 'BC'), link('l3', 'AC', null, false)), '');
});

test('links of access ports close loops within their VLAN, trunks in each', () => {
  assert.equal(closers(link('l1', 'AB', 10), link('l2', 'AB', 20)), '');
  assert.equal(closers(link('l1', 'AB', 10), link('l2', 'AB', 20), link('l3', 'AB', 20)), 'l3');
  assert.equal(closers(link('l1', 'AB', 10), link('l2', 'AB'), link('l3', 'AB', 20)), 'l1 l3');
  assert.equal(closers(link('l1', 'AB'), link('l2', 'AB'), link('l3', 'BC', 5)), 'l2');
});
