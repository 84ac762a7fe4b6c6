/** Nodes that moves have left behind, on a compute that only answers which nodes it has. */
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { withController } from '../../../test/support/with-controller.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import { removeStrays } from './strays.ts';

describe('a node that is being copied', () => {
  const bench = withController();

  it('is no stray: the look waits until it is part of the project', async () => {
    const { node_id } = await bench.addNode('SOURCE');
    const live = bench.controller.projects.get(bench.project.project_id).liveNow;
    assert.ok(live);
    const { nodes } = bench.compute;
    let looked: Promise<void> | undefined;
    const removed: string[] = [];
    const transport = {
      call: async () => Array.from(nodes.keys(), (id) => ({ node_id: id, node_type: 'vpcs' })),
      send: async (_key: string, { path }: { path: { node_id: string } }) => void removed.push(path.node_id),
    };
    const compute = { id: 'local', isLocal: true, hasNodeRuns: true, transport } as unknown as RegisteredCompute;
    const source = live.nodes.get(node_id);
    const own = source.transport;
    // The request that copies its files.
    const copying = mock.method(own, 'send', async () => {
      copying.mock.restore();
      assert.equal(nodes.size, 2, 'the copy is on the compute, and not recorded yet');
      looked = removeStrays(live, compute);
      await new Promise((resolve) => setImmediate(resolve));
    });
    await live.nodes.duplicate(node_id, { x: 0, y: 0 });
    assert.ok(looked);
    await looked;
    assert.deepEqual(removed, []);
  });
});

describe('what a move has left on the compute of the controller', () => {
  const bench = withController();
  /** Whether it is removed. `isPresent`: the node is on its new compute. */
  const isRemoved = async (isPresent: boolean) => {
    const { node_id } = await bench.addNode('MOVED');
    const live = bench.controller.projects.get(bench.project.project_id).liveNow;
    assert.ok(live);
    const node = live.nodes.get(node_id);
    node.setEntry({ ...node.entry, compute_id: 'another' });
    node.isPresent = isPresent;
    const removed: unknown[] = [];
    const transport = {
      call: async () => [{ node_id }],
      send: async (_key: string, { path }: { path: { node_id: string } }) => void removed.push(path.node_id),
    };
    await removeStrays(live, { id: 'local', isLocal: true, hasNodeRuns: true, transport } as unknown as RegisteredCompute);
    return removed.includes(node_id);
  };

  it('stays until the node is on its compute, as its files are still to be sent there', async () => {
    assert.equal(await isRemoved(false), false);
  });

  it('is removed then', async () => {
    assert.equal(await isRemoved(true), true);
  });
});
