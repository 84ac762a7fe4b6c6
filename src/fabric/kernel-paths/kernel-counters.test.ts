import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCounts } from './kernel-counters.ts';

describe('counters of redirected frames', () => {
  it('are read from what tc prints, with the headers that the kernel leaves out', () => {
    const stats = { bytes: 840, packets: 10, drops: 0, overlimits: 2 };
    const counts = parseCounts(JSON.stringify([{ 'total acts': 1 }, { actions: [{ order: 0, index: 7, stats }] }]));
    assert.deepEqual([...counts], [[7, { frames: 10, bytes: 980, lost: 2 }]]);
    const large = { bytes: 750_147_800, packets: 803 };
    const [count] = parseCounts(JSON.stringify([{ actions: [{ index: 7, stats: large }] }]), true).values();
    assert.equal(count?.frames, 518_057);
    for (const output of ['', '[]', '{}', 'Error', '[{"actions":[{}]}]']) assert.equal(parseCounts(output).size, 0, output);
  });
});
