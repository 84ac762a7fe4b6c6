import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { snapTo } from './snapping.ts';

const box = (x: number, y: number, size = 40) => ({ x, y, width: size, height: size });

describe('a dragged box', () => {
  it('snaps to edges and centres that are near, on each axis by itself', () => {
    const others = [box(0, 0), box(500, 300, 80)];
    const { dx, dy, guides } = snapTo(others, box(3, 317), 6);
    // The middle of the box is above that of the first box, and beside that of the second one.
    assert.deepEqual([dx, dy], [-3, 3]);
    assert.deepEqual(
      guides.map(({ kind, axis, at, from, to }) => [kind, axis, at, from, to]),
      [
        ['edge', 'x', 20, 0, 360],
        ['edge', 'y', 340, 0, 580],
      ],
    );
  });

  it('stays where it is when nothing is near', () => {
    assert.deepEqual(snapTo([box(0, 0)], box(200, 200), 6), { dx: 0, dy: 0, guides: [] });
  });

  it('snaps to the middle between two others, and to the gap between them on either side', () => {
    const others = [box(0, 0), box(100, 10)];
    assert.equal(snapTo(others, box(204, 20), 6).dx, -4);
    assert.equal(snapTo(others, box(-97, -19), 6).dx, -3);
    const between = snapTo([box(0, 0), box(300, 10)], box(146, 20), 6);
    assert.equal(between.dx, 4);
    assert.deepEqual(between.guides.map(({ kind, axis, from, to }) => [kind, axis, from, to]).slice(0, 2), [
      ['gap', 'x', 40, 150],
      ['gap', 'x', 190, 300],
    ]);
  });
});
