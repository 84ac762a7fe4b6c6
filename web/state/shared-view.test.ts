import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { searchOf, sharedViewOf } from './shared-view.ts';

describe('a shared view', () => {
  it('is read from the address that it was written to', () => {
    for (const view of [
      { centre: { x: -120, y: 40 }, scale: 1.5, ids: ['a', 'b'] },
      { centre: { x: 0, y: 0 }, scale: 0.05, ids: [] },
    ])
      assert.deepEqual(sharedViewOf(searchOf(view)), view);
  });

  it('is none in an address that names no place, and stays within the limits of the canvas', () => {
    for (const search of ['', '?at=', '?at=1,2', '?at=1,x,100', '?at=1,2,Infinity', '?at=1e300,0,100', '?select=a'])
      assert.equal(sharedViewOf(search), undefined);
    assert.equal(sharedViewOf('?at=0,0,100000')?.scale, 4);
    assert.equal(sharedViewOf(`?at=0,0,1&select=${'a,'.repeat(500)}`)?.ids.length, 50);
  });
});
