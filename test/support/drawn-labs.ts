/** Labs as they are drawn: all samples of the repository, and generated ones. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Lab } from '../../lab/file/lab.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { layOut } from '../../lab/layout.ts';
import type { Box, Point } from '../../web/geometry/geometry.ts';
import { textBox } from '../../web/geometry/label-spots.ts';
import { textWidth } from '../../web/geometry/text-width.ts';
import { type LayoutName, layout } from '../../web/scene/layout/layouts.ts';
import { impairedText } from '../../web/texts/impaired.ts';

export interface Drawn {
  /** Places of names that a user chose: the top, relative to the node. */
  readonly given?: ReadonlyMap<string, number>;
  readonly texts?: readonly Box[];
  readonly names: readonly (readonly [name: string, at: Point])[];
  readonly links: readonly (readonly [one: string, other: string, value?: string])[];
}

const root = join(import.meta.dirname, '../..');
const arrows = { ab: '→', ba: '←' };
export const symbolPx = 48;

export const sized = (text: string, size: number) => ({ width: textWidth(text, size), size });

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

export async function drawnSamples(): Promise<(readonly [file: string, drawn: Drawn])[]> {
  return Promise.all(
    samples.map(async (file) => {
      const lab = await loaded(await readFile(join(root, file), 'utf8'), file);
      return [basename(file), drawnLab(lab)] as const;
    }),
  );
}

export const generatedLabs: readonly (readonly [string, Drawn])[] = [20, 60, 300].flatMap((count) => [
  [`a tree of ${count} nodes in layers`, drawnBy('layered', count, tree(count, 4))],
  [`a mesh of ${count} nodes in layers`, drawnBy('layered', count, mesh(count))],
  [`a tree of ${count} nodes by forces`, drawnBy('force', count, tree(count, 4))],
  [`a mesh of ${count} nodes by forces`, drawnBy('force', count, mesh(count))],
  [`a tree of ${count} nodes by roles`, drawnBy('tree', count, tree(count, 4))],
  [`a ring of ${count} nodes`, drawnBy('ring', count, tree(count, 1))],
]);
