import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LayoutName, layout, type Places } from './layouts.ts';

const tierOf = (id: string) => (id === 'core' ? 1 : id.startsWith('s') ? 2 : 3);
const node = (id: string) => ({ id, width: 60, height: 60, tier: tierOf(id) });
/** A core, two switches, and two PCs at each; one node has no link. */
const nodes = ['pc1', 'pc2', 'pc3', 'pc4', 's1', 's2', 'core', 'alone'].map(node);
const links = [
  ...([
    ['s1', 'core'],
    ['core', 's2'],
    ['pc1', 's1'],
    ['s1', 'pc2'],
    ['s2', 'pc3'],
    ['pc4', 's2'],
    ['s1', 's2'],
  ] as const),
];

const overlapping = (places: Places): string[] =>
  nodes.flatMap(({ id: one }, at) =>
    nodes.slice(at + 1).flatMap(({ id: other }) => {
      const [a, b] = [places.get(one), places.get(other)];
      assert.ok(a && b);
      return Math.abs(a.x - b.x) < 60 && Math.abs(a.y - b.y) < 60 ? [`${one} ${other}`] : [];
    }),
  );

describe('a layout', () => {
  for (const name of ['layered', 'tree', 'force', 'ring'] satisfies LayoutName[])
    it(`in ${name} form places every node, and none over another`, () => {
      const places = layout({ name, nodes, links });
      assert.equal(places.size, nodes.length);
      assert.deepEqual(overlapping(places), []);
    });

  it('of a ring leaves room for names that are twice as wide as their nodes', () => {
    const many = Array.from({ length: 400 }, (_, at) => node(`n${at}`));
    const places = [...layout({ name: 'ring', nodes: many, links: [] }).values()];
    const next = places.map(({ x, y }, at) => [x - (places.at(at - 1)?.x ?? 0), y - (places.at(at - 1)?.y ?? 0)] as const);
    assert.deepEqual(
      next.filter(([x, y]) => Math.abs(x) < 120 && Math.abs(y) < 84),
      [],
    );
  });

  it('by roles has one row for each role, also for nodes without links', () => {
    const places = layout({ name: 'tree', nodes, links });
    const rows = Map.groupBy(nodes, ({ id }) => places.get(id)?.y);
    assert.deepEqual(
      [...rows].sort(([one = 0], [other = 0]) => one - other).map(([, row]) => [...new Set(row.map(({ tier }) => tier))]),
      [[1], [2], [3]],
    );
  });

  it('in layers puts end devices below their switch', () => {
    const places = layout({ name: 'layered', nodes, links });
    const y = (id: string) => places.get(id)?.y ?? Number.NaN;
    assert.ok(y('pc1') > y('s1') && y('pc2') === y('pc1') && y('pc3') > y('s2'));
  });
});
