import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countOf, noCount, parseCounts } from './kernel-counters.ts';

describe('counters of redirected frames', () => {
  it('are read from what tc prints, with the headers that the kernel leaves out', () => {
    const stats = { bytes: 840, packets: 10, drops: 0, overlimits: 2 };
    const counts = parseCounts(JSON.stringify([{ 'total acts': 1 }, { actions: [{ order: 0, index: 7, stats }] }]));
    assert.deepEqual(countOf(counts.get(7) ?? noCount, false), { frames: 10, bytes: 980, lost: 2 });
    const large = { bytes: 750_147_800, packets: 803 };
    const [count = noCount] = parseCounts(JSON.stringify([{ actions: [{ index: 7, stats: large }] }])).values();
    assert.equal(countOf(count, true).frames, 518_057);
    assert.equal(countOf(count, false).frames, 803, 'of containers the kernel knows the segments');
    for (const output of ['', '[]', '{}', 'Error', '[{"actions":[{}]}]']) assert.equal(parseCounts(output).size, 0, output);
  });
});
