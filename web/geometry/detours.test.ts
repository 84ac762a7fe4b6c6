/** Links go around foreign nodes where a bend can keep them clear. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Drawn, drawnSamples, generatedLabs, symbolPx } from '../../test/support/drawn-labs.ts';
import { crosses, curveBetween, pointsOf } from './curve.ts';
import { type DetourLink, detours } from './detours.ts';
import { type Box, centreOf } from './geometry.ts';

const boxesOf = ({ names }: Drawn) => new Map(names.map(([name, { x, y }]) => [name, { x, y, width: symbolPx, height: symbolPx }]));
const linksOf = ({ links }: Drawn): DetourLink[] =>
  links.map(([one, other], place) => ({ id: String(place), nodes: [one, other], bulge: 0 }));

/** Foreign nodes that a link touches, found by a look at each. */
function blockedBy(nodes: ReadonlyMap<string, Box>, { nodes: ends }: DetourLink, bend: number): string[] {
  const [from, to] = ends.map((id) => centreOf(nodes.get(id) ?? assert.fail(id)));
  if (!from || !to) return [];
  const points = pointsOf(curveBetween(from, to, ends[0] < ends[1] ? bend : -bend));
  const touches = (box: Box) => points.some((point, place) => place > 0 && crosses(box, points[place - 1] ?? point, point));
  return [...nodes].flatMap(([id, box]) => (!ends.includes(id) && touches(box) ? [id] : []));
}

const counted = (drawn: Drawn) => {
  const [nodes, links] = [boxesOf(drawn), linksOf(drawn)];
  const bends = detours(nodes, links);
  const blocked = (bendOf: (id: string) => number) =>
    links.filter((link) => blockedBy(nodes, link, bendOf(link.id)).length > 0).length;
  return { straight: blocked(() => 0), bent: blocked((id) => bends.get(id) ?? 0), bends };
};

const row = (count: number): ReadonlyMap<string, Box> =>
  new Map(Array.from({ length: count }, (_, place) => [`N${place}`, { x: place * 150, y: 0, width: symbolPx, height: symbolPx }]));
const link = (one: string, other: string, bulge = 0): DetourLink => ({ id: `${one}-${other}`, nodes: [one, other], bulge });

describe('links', () => {
  it('go around a node between their ends, whichever end is first', () => {
    for (const ends of [link('N0', 'N2'), link('N2', 'N0')]) {
      const bend = detours(row(3), [ends]).get(ends.id) ?? 0;
      assert.notEqual(bend, 0);
      assert.deepEqual(blockedBy(row(3), ends, bend), []);
    }
  });

  it('stay straight without one, and where no bend would help', () => {
    assert.equal(detours(row(2), [link('N0', 'N1')]).size, 0);
    const wall = new Map([
      ...row(2),
      ...Array.from({ length: 9 }, (_, place) => [`W${place}`, { x: 75, y: (place - 4) * 48, width: 48, height: 48 }] as const),
    ]);
    assert.equal(detours(wall, [link('N0', 'N1')]).size, 0);
  });

  it('to nodes very far away stay straight', () => {
    const far = new Map([...row(3), ['far', { x: 2 ** 31, y: -(2 ** 31), width: 48, height: 48 }] as const]);
    const links = Array.from({ length: 300 }, (_, place) => ({ ...link('N0', 'far'), id: String(place) }));
    assert.equal(detours(far, links).size, 0);
  });

  it('of a bundle are bent from where they are', () => {
    const bend = detours(row(3), [link('N0', 'N2', 13)]).get('N0-N2') ?? 0;
    assert.deepEqual(blockedBy(row(3), link('N0', 'N2'), 13 + bend), []);
  });

  it('touch no foreign node in all samples', async () => {
    for (const [file, drawn] of await drawnSamples()) assert.equal(counted(drawn).bent, 0, file);
  });

  for (const [what, drawn] of generatedLabs)
    it(`touch fewer foreign nodes in ${what}, or none`, (test) => {
      const { straight, bent, bends } = counted(drawn);
      test.diagnostic(`${straight} links through foreign nodes, ${bent} with bends, of ${drawn.links.length}`);
      assert.ok(bent <= straight * 0.75, `${bent} of ${straight}`);
      assert.deepEqual(detours(boxesOf(drawn), linksOf(drawn)), bends, 'the same lab has the same bends');
    });
});
