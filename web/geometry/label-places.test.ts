/** Labels are placed without overlaps in all samples and in generated labs; what users placed is avoided. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import type { Lab } from '../../lab/file/lab.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { layOut } from '../../lab/layout.ts';
import { type LayoutName, layout } from '../scene/layout/layouts.ts';
import { linkBulges } from '../state/link-bulges.ts';
import { impairedText } from '../texts/impaired.ts';
import { crosses, curveBetween, pointsOf } from './curve.ts';
import { type Box, centreOf, overlaps, type Point } from './geometry.ts';
import { type LabelledLink, type LabelScene, type Placement, placeLabels } from './label-places.ts';
import { markWidth, namePlace, portPlace, textBox, valueBox, valuePlace } from './label-spots.ts';
import { textWidth } from './text-width.ts';

const arrows = { ab: '→', ba: '←' };
const root = join(import.meta.dirname, '../..');
const symbolPx = 48;
const [namePx, portPx] = [12, 10.5];

interface Drawn {
  /** Places of names that a user chose: the top, relative to the node. */
  readonly given?: ReadonlyMap<string, number>;
  readonly texts?: readonly Box[];
  readonly names: readonly (readonly [name: string, at: Point])[];
  readonly links: readonly (readonly [one: string, other: string, value?: string])[];
}

const sized = (text: string, size: number) => ({ width: textWidth(text, size), size });

function sceneOf({ names, links, given = new Map(), texts = [] }: Drawn): LabelScene {
  const symbols = new Map(names.map(([name, { x, y }]) => [name, { x, y, width: symbolPx, height: symbolPx }]));
  const bulges = linkBulges(
    links.map(([one, other], place) => ({ link_id: String(place), nodes: [{ node_id: one }, { node_id: other }] })) as never,
    new Map(),
  );
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
      const bulge = bulges.get(String(place)) ?? 0;
      return {
        id: String(place),
        nodes: [one, other],
        curve: curveBetween(centreOf(ends[0]), centreOf(ends[1]), one < other ? bulge : -bulge),
        symbols: ends,
        ports: [nextPort(one), nextPort(other)],
        valueWidth: value === '' ? 0 : textWidth(value, portPx) + 16,
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

const loaded = (text: string, file = 'lab.yaml') => loadLab({ text, file, files: filesOf({}) });

function drawnLab(lab: Lab): Drawn {
  const points = layOut(lab, []);
  const at = ({ name, fields: { x, y } }: Lab['nodes'][number]): Point =>
    typeof x === 'number' && typeof y === 'number' ? { x, y } : (points.get(name) ?? assert.fail(`${name} has no place`));
  return {
    given: new Map(lab.nodes.flatMap(({ name, label }) => (typeof label?.y === 'number' ? [[name, label.y]] : []))),
    texts: lab.drawings.flatMap(({ svg, x, y }) => {
      const [, size = '10', text = ''] = /font-size="([\d.]+)"[^>]*>([^<]+)</.exec(svg) ?? [];
      const px = Number(size) * (4 / 3);
      return text === '' ? [] : [textBox({ x, y: y + px, anchor: 'start' }, sized(text, px))];
    }),
    names: lab.nodes.map((node) => [node.name, at(node)]),
    links: lab.links.map(({ ends: [one, other], filters }) => [one.node, other.node, impairedText(filters, arrows)]),
  };
}

/** A tree: switches with PCs; every fifth link is impaired. */
function tree(count: number, branches: number): readonly (readonly [string, string, string])[] {
  return Array.from({ length: count - 1 }, (_, place) => {
    const parent = Math.floor(place / branches);
    return [`node-${parent}`, `node-${place + 1}`, place % 5 === 0 ? '100 ms · 1 %' : ''] as const;
  });
}

/** A tree with links across: every third node is linked to another one as well. */
function mesh(count: number): readonly (readonly [string, string, string])[] {
  const across = Array.from({ length: Math.floor(count / 3) }, (_, place) => {
    const from = place * 3 + 1;
    return [`node-${from}`, `node-${(from + 2 + (place % 5)) % count}`, place % 4 === 0 ? '20 ms' : ''] as const;
  });
  return [...tree(count, 3), ...across.filter(([one, other]) => one !== other)];
}

function drawnBy(name: LayoutName, count: number, links: Drawn['links']): Drawn {
  const ids = Array.from({ length: count }, (_, place) => `node-${place}`);
  const nodes = ids.map((id, place) => ({ id, width: 60, height: 60, tier: place < count / 10 ? 1 : place < count / 3 ? 2 : 3 }));
  const places = layout({ name, nodes, links: links.map(([one, other]) => [one, other] as const) });
  const at = (id: string): Point => {
    const { x, y } = places.get(id) ?? assert.fail(`${id} has no place`);
    return { x: Math.round(x - symbolPx / 2), y: Math.round(y - symbolPx / 2) };
  };
  return { names: ids.map((id) => [id, at(id)]), links };
}

const samples = ['labs', 'web/dialogs/samples'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => join(folder, file)),
);
const generated: readonly (readonly [string, Drawn])[] = [20, 60, 300].flatMap((count) => [
  [`a tree of ${count} nodes in layers`, drawnBy('layered', count, tree(count, 4))],
  [`a mesh of ${count} nodes in layers`, drawnBy('layered', count, mesh(count))],
  [`a tree of ${count} nodes by forces`, drawnBy('force', count, tree(count, 4))],
  [`a mesh of ${count} nodes by forces`, drawnBy('force', count, mesh(count))],
  [`a tree of ${count} nodes by roles`, drawnBy('tree', count, tree(count, 4))],
  [`a ring of ${count} nodes`, drawnBy('ring', count, tree(count, 1))],
]);

describe('labels', () => {
  for (const file of samples)
    it(`touch nothing in ${basename(file)}`, async () => {
      const scene = sceneOf(drawnLab(await loaded(await readFile(join(root, file), 'utf8'), file)));
      const placement = placeLabels(scene);
      assert.deepEqual(overlapsIn(scene, placement), []);
      assert.deepEqual(crowdedIn(placement), [0, 0]);
    });

  for (const [what, drawn] of generated)
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
