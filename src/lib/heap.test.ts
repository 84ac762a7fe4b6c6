import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Heap, outside } from './heap.ts';

interface Item {
  place: number;
  key: number;
}

describe('heap', () => {
  it('gives back in order, also what was moved', () => {
    const heap = new Heap<Item>((one, other) => one.key < other.key);
    const items = Array.from({ length: 200 }, (_, index) => ({ place: outside, key: (index * 7919) % 211 }));
    for (const item of items) heap.push(item);
    for (const item of items.filter((_, index) => index % 5 === 0)) {
      item.key -= 100;
      heap.advanced(item);
    }
    const keys = Array.from({ length: 200 }, () => heap.shift()?.key);
    assert.deepEqual(
      keys,
      items.map(({ key }) => key).sort((one, other) => one - other),
    );
    assert.equal(heap.shift(), undefined);
    assert.ok(items.every(({ place }) => place === outside));
  });

  it('forgets all at once', () => {
    const heap = new Heap<Item>((one, other) => one.key < other.key);
    const item = { place: outside, key: 1 };
    heap.push(item);
    heap.clear();
    assert.deepEqual([heap.length, heap.first, item.place], [0, undefined, outside]);
  });
});
