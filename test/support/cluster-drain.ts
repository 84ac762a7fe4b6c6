/** The host of a slice is drained, as an administrator does it: its nodes are moved to the other slice, the machine while it runs. */
import assert from 'node:assert/strict';
import type { NodeMigration } from '../../src/schema/move.ts';
import type { ClusterLab } from './cluster-lab.ts';
import { listen } from './notices.ts';
import { waitFor } from './wait-for.ts';

/** Limit for a move that hangs. */
const limitMs = 100_000;

export async function drain(lab: ClusterLab): Promise<void> {
  const [slice = '', other = ''] = lab.slices;
  const host = await lab.hostOf(slice);
  const nodes = await lab.nodesOn(slice);
  assert.deepEqual(nodes.map(({ node_type }) => node_type).toSorted(), ['qemu', 'vpcs']);
  const listener = await listen(`${lab.client.base.origin}${lab.project.path}/notifications/ws`);
  const messages = () => listener.notices().map(({ event }) => String(event.message ?? ''));
  await lab.hosts.drain(host, true);
  try {
    const isAway = async () => (await lab.nodesOn(other)).length === 2 * nodes.length;
    await waitFor(isAway, { what: 'its nodes on the other slice', everyMs: 200, limitMs }).catch((error: Error) => {
      throw new Error(`${error.message}\n${messages().join('\n')}\n${lab.server.log().slice(-4000)}`, { cause: error });
    });
    await lab.settle('the lab without a drained host');
    assert.notEqual(await lab.hostOf(slice), host, 'the slice is placed on another host');
    const moved = messages().filter((message) => /was moved to .*: its guest was paused for \d+ ms/.test(message));
    assert.equal(moved.length, 1, `the machine moved while it ran\n${messages().join('\n')}`);
    assert.ok(messages().some((message) => message.includes('Its nodes are moved to other slices')));
    console.log(moved[0]);
  } finally {
    await lab.hosts.drain(host, false);
    await listener.close();
  }
  for (const { node_id, node_type } of nodes) {
    const node = `${lab.project.path}/nodes/${node_id}`;
    if (node_type === 'vpcs') await lab.client.post(`${node}/stop`, {}, 200);
    const { live } = await lab.client.post<NodeMigration>(`${node}/migrate`, { compute_id: slice }, 200);
    assert.equal(live, node_type === 'qemu');
    await lab.client.post(`${node}/start`, {}, 200);
  }
  await lab.settle('the lab as it was');
}
