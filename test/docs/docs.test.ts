/** What the documents list is what the code has. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { faultRows } from '../../src/api/faults.ts';
import { help } from '../../src/command-line.ts';
import { configurationPage } from '../../src/configuration-page.ts';
import { filterTypes } from '../../src/schema/filter-table.ts';
import { sourceFiles } from '../architecture/sources.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFile(resolve(root, path), 'utf8');

describe('documents', () => {
  it('explain every error, with its status, and no other', async () => {
    const text = await read('docs/errors.md');
    const listed = [...text.matchAll(/^### `(\w+)` · (\d{3})$/gm)].map((found) => `${found[1]} ${found[2]}`);
    const rows = faultRows().map(({ code, status }) => `${code} ${status}`);
    assert.deepEqual(listed.toSorted(), rows.toSorted());
  });

  it('explain no error that nothing throws', async () => {
    const files = (await sourceFiles()).filter((file) => file !== 'api/faults.ts');
    const program = (await Promise.all(files.map((file) => read(`src/${file}`)))).join('\n');
    const thrown = new Set(Array.from(program.matchAll(/\bfault\(\s*'(\w+)'/g), (found) => found[1]));
    assert.deepEqual(
      faultRows().flatMap(({ code }) => (thrown.has(code) ? [] : [code])),
      [],
    );
  });

  it('list the filters in the order in which they act', async () => {
    const listed = [...(await read('docs/impairments.md')).matchAll(/^\| \d+ \| `(\w+)` \|/gm)].map((found) => found[1]);
    const settings = ['latency', 'jitter', 'seed'];
    assert.deepEqual(
      listed,
      filterTypes.filter((type) => !settings.includes(type)),
    );
  });

  it('list every setting and option with its default', async () => {
    assert.equal(
      await read('docs/configuration.md'),
      configurationPage(),
      'run: npm start -- configuration > docs/configuration.md',
    );
  });

  it('name only npm scripts that exist', async () => {
    const scripts = Object.keys((JSON.parse(await read('package.json')) as { scripts: Record<string, string> }).scripts);
    for (const path of ['README.md', 'CONTRIBUTING.md', 'docs/architecture.md', 'bench/README.md']) {
      const named = [...(await read(path)).matchAll(/npm run ([\w:-]+)/g)].map((found) => found[1] as string);
      assert.deepEqual(
        named.filter((name) => !scripts.includes(name)),
        [],
        path,
      );
    }
  });

  it('name only options that the program takes', async () => {
    const known = new Set([...help.matchAll(/--[\w-]+/g)].map(([option]) => option));
    const text = await read('README.md');
    const named = [...text.matchAll(/npm start -- ([^\n`]*)/g)].flatMap((found) => (found[1] ?? '').match(/--[\w-]+/g) ?? []);
    assert.deepEqual(
      named.filter((option) => !known.has(option)),
      [],
    );
  });
});
