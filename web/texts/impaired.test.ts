import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { impairedText } from './impaired.ts';

const text = (filters: object) => impairedText(filters as Record<string, unknown>, { ab: '→', ba: '←' });

describe('the impairments of a link on the canvas', () => {
  for (const [filters, shown] of [
    [{ delay: [100], packet_loss: [1] }, '100 ms · 1 %'],
    [{ delay: [40, 5], bandwidth: [2000] }, '40 ± 5 ms · 2 Mbit/s'],
    [{ packet_loss: [0.25] }, '0.25 %'],
    [{ delay_ab: [10], delay_ba: [30] }, '→ 10 ms · ← 30 ms'],
    [{ frequency_drop: [4] }, '1 of 4 lost'],
    [{ frequency_drop: [-1] }, 'all lost'],
    [{ delay: [1], packet_loss: [2], bandwidth: [3], corrupt: [4], duplicate: [5] }, '1 ms · 2 % · 3 kbit/s +2'],
    [{ bpf: ['icmp'] }, 'BPF'],
    [{ delay: [0], seed: [7], match: ['arp'] }, ''],
    [{}, ''],
  ] as const)
    it(`${JSON.stringify(filters)} are “${shown}”`, () => assert.equal(text(filters), shown));
});
