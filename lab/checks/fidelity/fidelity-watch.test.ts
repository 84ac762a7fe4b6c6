import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabSite } from '../run/lab-site.ts';
import { FidelityWatch } from './fidelity-watch.ts';

test('a path takes longer than the delay of its own direction, not than that of the other one', async () => {
  assert.deepEqual(await excesses({}), [
    ['A - B (A → B)', 0],
    ['A - B (B → A)', 4],
  ]);
});

test('the delay that a schedule sets counts', async () => {
  const schedule = { started_at: 0, elapsed: 5, filters: { delay_ab: [1], delay_ba: [10], bandwidth_ba: [1000] }, suspend: false };
  assert.deepEqual(await excesses({ schedule }), [
    ['A - B (A → B)', 3],
    ['A - B (B → A)', 0],
  ]);
});

async function excesses(more: object): Promise<[string, number | undefined][]> {
  const link = { link_id: 'one', nodes: [], filters: { delay_ab: [10], bandwidth_ba: [1000] } };
  const direction = { from_node: 'A', to_node: 'B', received_frames: 0, frames: 0, dropped: {}, late: null };
  const stats = {
    link_id: 'one',
    since: 1,
    directions: [direction, { ...direction, from_node: 'B', to_node: 'A' }],
    path: { via: 'direct', rtt_ms: 8, excess_ms: 4 },
    ...more,
  };
  const site = {
    nodes: [],
    nameOf: () => 'A - B',
    request: async (_method: string, path: string) => (path === '/links' ? [link] : [stats]),
  };
  const watch = new FidelityWatch(site as unknown as LabSite);
  await watch.begin();
  const { links } = await watch.end();
  return links.map(({ name, excessMs }) => [name, excessMs]);
}
