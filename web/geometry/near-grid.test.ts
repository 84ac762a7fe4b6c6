import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NearGrid } from './near-grid.ts';

const box = (x: number, y: number, size: number) => ({ x, y, width: size, height: size });

test('items are found near what they touch, and not elsewhere', () => {
  const grid = new NearGrid<{ name: string }>();
  const near = (at: ReturnType<typeof box>) => {
    const found = new Set<string>();
    grid.visit(at, ({ name }) => found.add(name));
    return [...found].sort();
  };
  const small = { name: 'small' };
  grid.addBox(small, box(10, 10, 20));
  grid.addLine({ name: 'line' }, { x: 0, y: 0 }, { x: 1_000, y: 0 });
  assert.deepEqual(near(box(0, 0, 5)), ['line', 'small']);
  assert.deepEqual(near(box(900, 5, 5)), ['line']);
  assert.deepEqual(near(box(0, 900, 5)), []);
  grid.removeBox(small, box(10, 10, 20));
  assert.deepEqual(near(box(0, 0, 5)), ['line']);
});

test('items of any size and at any place are filed at once', { timeout: 20_000 }, () => {
  const grid = new NearGrid<{ name: string }>();
  const far = 2 ** 40;
  const huge = { name: 'huge' };
  grid.addLine({ name: 'far' }, { x: -far, y: far }, { x: far, y: 3 });
  grid.addBox(huge, box(-far, -far, 2 * far));
  grid.addBox({ name: 'beyond' }, box(far, far, 40));
  const found: string[] = [];
  grid.visit(box(0, 0, 10), ({ name }) => found.push(name));
  assert.deepEqual(found, ['far', 'huge']);
  grid.removeBox(huge, box(-far, -far, 2 * far));
  found.length = 0;
  grid.visit(box(-far, -far, 2 * far), ({ name }) => found.push(name));
  assert.ok(found.includes('far') && found.includes('beyond') && !found.includes('huge'), String(found));
});
