import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Candidate, chooseCompute } from './choose-compute.ts';

const candidate = (id: string, memory: number | null, usedMemory: number, usedCpus = 0): Candidate => ({
  id,
  cpus: 4,
  memory,
  used: { cpus: usedCpus, memory: usedMemory },
});

test('a node goes to the least loaded compute on which its memory fits', () => {
  const needs = { cpus: 1, memory: 1024 };
  assert.equal(chooseCompute(needs, [candidate('a', 8192, 4096), candidate('b', 8192, 0)]), 'b');
  assert.equal(chooseCompute(needs, [candidate('a', 8192, 0, 8), candidate('b', 8192, 2048)]), 'b', 'processors count');
  assert.equal(chooseCompute(needs, [candidate('a', 1024, 0), candidate('b', 8192, 6000)]), 'b', 'the first one is too small');
  assert.equal(chooseCompute(needs, [candidate('a', 8192, 0), candidate('b', 8192, 0)]), 'a', 'the first of equals');
  assert.equal(chooseCompute(needs, [candidate('a', null, 0)]), 'a', 'an unknown size');
  assert.equal(chooseCompute(needs, [candidate('a', 2048, 1500)]), undefined);
  assert.equal(chooseCompute(needs, []), undefined);
});
