/** Labels are placed without overlaps in all samples and in generated labs; what users placed is avoided. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Drawn, drawnSamples, generatedLabs, sized, symbolPx } from '../../test/support/drawn-labs.ts';
import { linkBulges } from '../state/link-bulges.ts';
import { crosses, curveBetween, pointsOf } from './curve.ts';
import { detours } from './detours.ts';
import { type Box, centreOf, overlaps, type Point } from './geometry.ts';
import { type LabelledLink, type LabelScene, type Placement, placeLabels } from './label-places.ts';
import { markWidth, namePlace, portPlace, textBox, valueBox, valuePlace } from './label-spots.ts';

const [namePx, portPx] = [12, 10.5];

function sceneOf({ names, links, given = new Map(), texts = [] }: Drawn): LabelScene {
  const symbols = new Map(names.map(([name, { x, y }]) => [name, { x, y, width: symbolPx, height: symbolPx }]));
  const bulges = linkBulges(
    links.map(([one, other], place) => ({ link_id: String(place), nodes: [{ node_id: one }, { node_id: other }] })) as never,
    new Map(),
  );
  const bundled = links.map(([one, other], place) => {
    const id = String(place);
    return { id, nodes: [one, other] as const, bulge: bulges.get(id) ?? 0 };
  });
  const bends = detours(symbols, bundled);
  const ports = new Map<string, number>();
  const nextPort = (name: string) => {
    const number = ports.get(name) ?? 0;
    ports.set(name, number + 1);
    return sized(number % 2 === 0 ? `e${number}` : `eth${number}`, portPx);
  };
  return {
    nodes: names.map(([name]) => ({
      id: name,
      symbol: symbols.get(name) as Box,
      name: given.has(name) ? undefined : sized(name, namePx),
    })),
    links: links.map(([one, other, value = ''], place): LabelledLink => {
      const ends = [symbols.get(one) as Box, symbols.get(other) as Box] as const;
      const bulge = (bulges.get(String(place)) ?? 0) + (bends.get(String(place)) ?? 0);
      return {
        id: String(place),
        nodes: [one, other],
        curve: curveBetween(centreOf(ends[0]), centreOf(ends[1]), one < other ? bulge : -bulge),
        symbols: ends,
        ports: [nextPort(one), nextPort(other)],
        valueWidth: value === '' ? 0 : sized(value, portPx).width + 16,
      };
    }),
    fixed: [
      ...names.flatMap(([name, { x, y }]) => {
        const top = given.get(name);
        const at = { x: x + symbolPx / 2, y: y + (top ?? 0) + namePx, anchor: 'middle' } as const;
        return top === undefined ? [] : [textBox(at, sized(name, namePx))];
      }),
      ...texts,
    ],
  };
}

interface Shown {
  readonly what: string;
  readonly box: Box;
  /** Id of a node, or of a link. */
  readonly owner: string;
}

function shownIn({ nodes, links }: LabelScene, { names, links: spots }: Placement): Shown[] {
  return [
    ...nodes.flatMap(({ id, symbol, name }) => {
      const spot = names.get(id);
      return name && spot ? [{ what: `name ${id}`, owner: id, box: textBox(namePlace(symbol, spot), name) }] : [];
    }),
    ...links.flatMap((link) => {
      const { ports, value } = spots.get(link.id) ?? assert.fail(`link ${link.id} has no spots`);
      const texts = ([0, 1] as const).flatMap((end) => {
        const [text, spot] = [link.ports[end], ports[end]];
        if (!text || !spot || spot.isHidden) return [];
        return [{ what: `port ${end} of ${link.nodes}`, owner: link.id, box: textBox(portPlace(link, end, spot, text), text) }];
      });
      const width = value?.isShort ? markWidth : link.valueWidth;
      const values = value
        ? [{ what: `value of ${link.nodes}`, owner: link.id, box: valueBox(valuePlace(link.curve, value, width), width) }]
        : [];
      return [...texts, ...values];
    }),
  ];
}

const linesOf = ({ curve }: LabelledLink) => {
  const points = pointsOf(curve);
  return points.slice(1).map((to, place) => [points[place] as Point, to] as const);
};

/** All pairs that touch, found by a look at each pair. */
function overlapsIn(scene: LabelScene, placement: Placement): string[] {
  const shown = shownIn(scene, placement);
  const lines = scene.links.map((link) => ({ link, lines: linesOf(link) }));
  return shown.flatMap(({ what, box, owner }, place) => [
    ...shown.slice(place + 1).flatMap((other) => (overlaps(box, other.box) ? [`${what} on ${other.what}`] : [])),
    ...scene.nodes.flatMap(({ id, symbol }) => (overlaps(box, symbol) ? [`${what} on node ${id}`] : [])),
    ...scene.fixed.flatMap((fixed) => (overlaps(box, fixed) ? [`${what} on a fixed text`] : [])),
    ...lines
      .filter(({ link }) => link.id !== owner && !link.nodes.includes(owner))
      .flatMap((other) =>
        other.lines.some(([from, to]) => crosses(box, from, to)) ? [`${what} on link ${other.link.nodes}`] : [],
      ),
  ]);
}

/** Names of ports that are hidden, and values for which a mark stands, as there is no room for them. */
function crowdedIn({ links }: Placement): readonly [ports: number, values: number] {
  const spots = [...links.values()];
  const ports = spots.flatMap(({ ports }) => ports).filter((spot) => spot?.isHidden);
  return [ports.length, spots.filter(({ value }) => value?.isShort).length];
}

const samples = await drawnSamples();

describe('labels', () => {
  for (const [file, drawn] of samples)
    it(`touch nothing in ${file}`, () => {
      const scene = sceneOf(drawn);
      const placement = placeLabels(scene);
      assert.deepEqual(overlapsIn(scene, placement), []);
      assert.deepEqual(crowdedIn(placement), [0, 0]);
    });

  for (const [what, drawn] of generatedLabs)
    it(`touch nothing in ${what}`, (test) => {
      const scene = sceneOf(drawn);
      const began = performance.now();
      const placement = placeLabels(scene);
      const took = performance.now() - began;
      const [ports, values] = crowdedIn(placement);
      const counts = `${ports} of ${scene.links.length * 2} names of ports and ${values} values without room`;
      test.diagnostic(`${took.toFixed(1)} ms, ${counts}`);
      assert.deepEqual(overlapsIn(scene, placement), []);
      const impaired = scene.links.filter(({ valueWidth }) => valueWidth > 0).length;
      assert.ok(ports <= scene.links.length * 2 * 0.04 && values <= Math.max(1, impaired / 3), counts);
      assert.deepEqual(placeLabels(scene), placement, 'the same lab has the same picture');
    });
});
