/**
 * Promises of a lab over hosts, whichever engine gives these. `npm test` does a few random rounds;
 * `npm run fuzz -- 50 partition cluster-kill` as many as you say.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SliceObject } from '../../src/schema/slice.ts';
import { makeChance } from '../durability/random.ts';
import { drain } from './cluster-drain.ts';
import { type ClusterLab, linkDelayMs } from './cluster-lab.ts';
import { kill, partition } from './cluster-rounds.ts';
import { untilSlice } from './slices.ts';
import { waitFor } from './wait-for.ts';

const roundsOf = (name: string, usual: number) => Number(process.env[name]) || usual;
const limitMs = 4_000_000;

/** `isLong`: more of them than `npm test` does. */
export const partitions = roundsOf('PATCHBAY_TEST_PARTITIONS', 1);
export const kills = roundsOf('PATCHBAY_TEST_CLUSTER_KILLS', 1);

/** `more`: tests of one engine, with the lab as it is before its end. */
export function clusterTests(lab: ClusterLab, more: () => void = () => undefined): void {
  const chance = makeChance();
  console.log(`seed ${chance.seed}`);

  it('joins from nothing on two hosts, and has its nodes there', async () => {
    await lab.settle('the lab');
    const [one, other] = lab.slices;
    assert.notEqual(await lab.hostOf(one ?? ''), await lab.hostOf(other ?? ''));
  });

  it('carries a link between them by a stream, with its delay', async () => {
    const trip = await waitFor(() => lab.ping(), { what: 'a ping that is answered', everyMs: 200 });
    // Less the path as it was measured, which on a busy machine is longer than that of the ping.
    assert.ok(trip >= 1.5 * linkDelayMs, `${trip} ms for ${linkDelayMs} ms in each direction`);
    assert.equal((await lab.linkStats()).carrier, 'stream');
  });

  it('was sent the image of its disks once', () => {
    assert.ok(lab.imageBytes.sent < 1.5 * lab.imageBytes.size, JSON.stringify(lab.imageBytes));
  });

  it('says what a slice waits for that fits nowhere', async () => {
    const { compute_id } = await lab.client
      .post<SliceObject>('/v2/slices', { cpus: 2, memory: 1_000_000 })
      .catch(() => ({ compute_id: '' }));
    // Slurm refuses at once what no node of it can ever hold.
    if (compute_id === '') return;
    await waitFor(async () => /nsufficient|larg/.test((await untilSlice(lab.client, compute_id, 'pending')).reason ?? ''), {
      what: 'its reason',
    });
    await lab.client.delete(`/v2/slices/${compute_id}`);
  });

  it('continues on another host after a power cut', async () => {
    const [, slice = ''] = lab.slices;
    const before = await lab.hostOf(slice);
    await lab.hosts.powerOff(before);
    try {
      await lab.settle('the lab on other hosts');
      assert.notEqual(await lab.hostOf(slice), before);
      const isDirect = async () => (await lab.linkStats()).path?.via === 'direct';
      await waitFor(isDirect, { what: 'a link that leads to its new host, not through the relay', everyMs: 200, limitMs: 60_000 });
    } finally {
      await lab.hosts.powerOn(before);
    }
  });

  it('has its nodes moved to another slice when its host is drained', { timeout: limitMs }, () => drain(lab));

  it('never runs two machines on one disk when a host is cut off', { timeout: limitMs }, async () => {
    for (let round = 1; round <= partitions; round++) await partition(lab, chance, round);
  });

  it('is complete again after SIGKILL to any program', { timeout: limitMs }, async () => {
    for (let round = 1; round <= kills; round++) await kill(lab, chance, round);
  });

  more();

  it('has whole disks, and leaves nothing when its slices are deleted', async () => {
    await lab.end();
    for (const slice of lab.slices) await lab.client.delete(`/v2/slices/${slice}?force=true`);
    await waitFor(async () => (await lab.hosts.placed()) === 0, { what: 'the end of all slices', everyMs: 200 });
    assert.deepEqual(await lab.client.get('/v2/slices'), []);
    for (const slice of lab.slices)
      await waitFor(async () => (await lab.processes(slice)).length === 0, { what: 'the end of its processes', everyMs: 200 });
  });
}
