/** Nodes are stood in for: one that does not start until another has cannot be made at will. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { concurrency } from '../../lib/bounded.ts';
import type { NodeRuns } from '../live/nodes/node-runs.ts';
import type { ProjectNodes } from '../live/nodes/project-nodes.ts';
import { actOnAll } from './node-batch.ts';

test('nodes start on all computes side by side: one on which none starts holds up no other', async () => {
  const slow = Array.from({ length: 2 * concurrency }, (_, index) => `slow ${index}`);
  const { promise: otherStarted, resolve } = Promise.withResolvers<void>();
  const { promise: full, resolve: fill } = Promise.withResolvers<void>();
  const underWay = { now: 0, most: 0 };
  const nodes: Pick<ProjectNodes, 'ids'> & { find: (id: string) => unknown } = {
    ids: () => [...slow, 'other'],
    find: (id) => ({ entry: { compute_id: id.split(' ')[0], name: id } }),
  };
  const runs: Pick<NodeRuns, 'act'> = {
    act: async (id) => {
      if (id === 'other') return full.then(resolve) as never;
      underWay.most = Math.max(underWay.most, ++underWay.now);
      if (underWay.now === concurrency) fill();
      await otherStarted;
      underWay.now -= 1;
      return undefined as never;
    },
  };
  await actOnAll({ nodes: nodes as ProjectNodes, runs, notify: () => undefined }, 'start');
  assert.equal(underWay.most, concurrency);
});

test('nodes in the fabric of this host start at once, whatever another program takes to start', async () => {
  const ids = [
    ...Array.from({ length: concurrency }, (_, index) => `qemu ${index}`),
    ...Array.from({ length: 20 }, (_, index) => `vpcs ${index}`),
  ];
  const { promise: allPcs, resolve } = Promise.withResolvers<void>();
  let pcs = 0;
  const nodes: Pick<ProjectNodes, 'ids'> & { find: (id: string) => unknown } = {
    ids: () => ids,
    find: (id) => ({ entry: { compute_id: 'local', node_type: id.split(' ')[0], name: id } }),
  };
  const runs: Pick<NodeRuns, 'act'> = {
    act: async (id) => {
      if (id.startsWith('vpcs') && ++pcs === 20) resolve();
      await allPcs;
      return undefined as never;
    },
  };
  await actOnAll({ nodes: nodes as ProjectNodes, runs, notify: () => undefined }, 'start');
  assert.equal(pcs, 20);
});
