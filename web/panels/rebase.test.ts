import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rebased } from './rebase.ts';

const port = (port_number: number, vlan: number) => ({ port_number, vlan, type: 'access' });

describe('an edit of a value that another user changed meanwhile', () => {
  const base = [port(0, 1), port(1, 1), port(2, 1)];
  it('changes the rows that it changed, and keeps those of the other', () => {
    const now = [port(0, 1), port(1, 20), port(2, 1), port(3, 30)];
    assert.deepEqual(rebased(base, [port(0, 10), port(1, 1), port(2, 1)], now), [port(0, 10), ...now.slice(1)]);
  });
  it('changes one member of a row', () => {
    const now = [{ ...port(0, 1), type: 'dot1q' }, port(1, 1), port(2, 1)];
    assert.deepEqual(rebased(base, [port(0, 10), port(1, 1), port(2, 1)], now), [
      { ...port(0, 10), type: 'dot1q' },
      ...now.slice(1),
    ]);
  });
  it('adds and removes rows', () => {
    const now = [port(0, 1), port(1, 20), port(2, 1)];
    assert.deepEqual(rebased(base, [port(0, 1), port(1, 1), port(4, 4)], now), [port(0, 1), port(1, 20), port(4, 4)]);
  });
  it('merges members of objects, and is as edited where both changed', () => {
    assert.deepEqual(rebased({ a: 1, b: 1, c: 1 }, { a: 2, b: 2 }, { a: 1, b: 3, c: 1, d: 4 }), { a: 2, b: 2, d: 4 });
    assert.equal(rebased(1, 2, 3), 2);
  });
});
