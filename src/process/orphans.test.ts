import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutOwner } from './orphans.ts';

describe('processes without an owner', () => {
  const sessionOf = (pid: number) =>
    new Map([
      [10, 9],
      [20, 0],
    ]).get(pid);
  const pidsOf = (...processes: [pid: number, sid: number][]) => {
    const marked = processes.map(([pid, sid]) => ({ pid, sid, startTime: 1 }));
    return withoutOwner(marked, [10, 20, 30], sessionOf).map(({ pid }) => pid);
  };

  it('are not those of a session that an owned process leads or belongs to', () => {
    assert.deepEqual(pidsOf([10, 9], [11, 9], [12, 10], [13, 12]), [13]);
  });

  it('are those whose session began outside of the container, also where an owned one is in such a session or has ended', () => {
    assert.deepEqual(pidsOf([20, 0], [21, 0], [22, 0]), [21, 22]);
  });
});
