/** Rooms have floors, arrows between them go down only, and no files import each other in a circle. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { floors, mostLinesWithoutFloors } from './floors.ts';
import { findCircle, importsIn, importsOf, pageFiles, root, sourceFiles } from './sources.ts';

const files = [
  ...(await sourceFiles()),
  ...(await pageFiles()).filter((file) => /\.tsx?$/.test(file)).map((file) => `web/${file}`),
];
const imports = (await Promise.all(files.map((file) => importsOf(file)))).flat().filter(({ to }) => /\.tsx?$/.test(to));

interface Place {
  readonly entry: string;
  /** Number of floors below the highest, which is 0. */
  readonly floor: number;
}

/** The floor of a file of a room; undefined without an entry. */
function placeOf(room: readonly (readonly string[])[], file: string): Place | undefined {
  return room
    .flatMap((entries, floor) => entries.map((entry) => ({ entry, floor })))
    .filter(({ entry }) => file === entry || file.startsWith(`${entry}/`))
    .sort((one, other) => other.entry.length - one.entry.length)[0];
}

describe('floors', () => {
  for (const [room, table] of Object.entries(floors)) {
    const inside = (file: string) => file.startsWith(`${room}/`);
    const place = (file: string) => placeOf(table, file.slice(room.length + 1));

    it(`${room}: every file stands on a floor, and every entry has a file`, () => {
      const own = files.filter(inside);
      assert.deepEqual(
        own.filter((file) => !place(file)),
        [],
      );
      const used = new Set(own.map((file) => place(file)?.entry));
      assert.deepEqual(
        table.flat().filter((entry) => !used.has(entry)),
        [],
      );
    });

    it(`${room}: arrows go down only`, () => {
      const wrong = imports.filter(({ from, to }) => {
        if (!inside(from) || !inside(to)) return false;
        const [upper, lower] = [place(from), place(to)];
        return upper && lower && upper.entry !== lower.entry && upper.floor >= lower.floor;
      });
      assert.deepEqual(
        wrong.map(({ from, to }) => `${from} -> ${to}`),
        [],
      );
    });
  }

  it('stand in every large room', async () => {
    const lines = new Map<string, number>();
    for (const file of files) {
      const room = /^(?:web|lab|cli)(?=\/)|^src\/[^/]+(?=\/)/.exec(file)?.[0] ?? 'src';
      const text = await readFile(join(root, file), 'utf8');
      lines.set(room, (lines.get(room) ?? 0) + text.split('\n').length - 1);
    }
    const without = [...lines].filter(([room, count]) => count > mostLinesWithoutFloors && !(room in floors));
    assert.deepEqual(without, []);
  });
});

describe('files', () => {
  it('do not import each other in a circle at run time', () => {
    assert.equal(findCircle(imports.filter(({ isType }) => !isType))?.join(' -> '), undefined);
  });

  it('are read right', () => {
    const text = [
      "import { type A, type B } from './types.ts';",
      "import { type C, d } from './both.ts';",
      "import type {\n  E,\n} from '../room/e.ts';",
      "export { f } from './f.ts';",
      "import './effect.ts';",
      "const late = await import('./late.ts');",
      "import * as all from 'package';",
    ].join('\n');
    assert.deepEqual(
      importsIn(text, 'x/y.ts').map(({ to, isType }) => `${to} ${isType}`),
      [
        ...['x/types.ts true', 'x/both.ts false', 'room/e.ts true', 'x/f.ts false', 'x/effect.ts false', 'x/late.ts false'],
        ...['package false'],
      ],
    );
  });

  it('in a circle are found', () => {
    const arrows = (text: string) => text.split(' ').map((pair) => ({ from: pair[0] ?? '', to: pair[1] ?? '' }));
    assert.deepEqual(findCircle(arrows('ab bc ad cd')), undefined);
    assert.deepEqual(findCircle(arrows('ab bc ad dc cb')), ['b', 'c', 'b']);
    assert.deepEqual(findCircle(arrows('aa')), ['a', 'a']);
  });
});
