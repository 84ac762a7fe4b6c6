/** Arrows between the folders point one way (docs/architecture.md), and kinds stay in their folders. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { implementedTypes } from '../../src/emulators/kinds.ts';

const root = resolve(import.meta.dirname, '../..');
const src = join(root, 'src');
const web = join(root, 'web');

/** Layer to what it may import; `folder/file.ts` stands for that file alone. */
const arrows: Record<string, readonly string[]> = {
  lib: [],
  schema: [],
  api: ['schema'],
  process: ['lib'],
  fabric: ['schema', 'process', 'lib', 'api'],
  emulators: ['api', 'fabric', 'process', 'schema', 'lib'],
  compute: ['api', 'schema', 'emulators', 'fabric', 'process', 'lib'],
  controller: ['api', 'schema', 'lib', 'emulators/kinds.ts', 'emulators/kind.ts'],
  http: ['api', 'lib'],
  doctor: ['emulators', 'process', 'schema', 'lib', 'settings.ts', 'version.ts'],
};
/** What of the fabric others may use: its client and its protocol, never the data plane itself. */
const fabricDoors = ['fabric/client.ts', 'fabric/protocol.ts', 'fabric/bpf-compile.ts'];
/** Libraries that are known in one folder only. */
const libraryHomes: Record<string, readonly string[]> = {
  fastify: ['http', 'serve.ts'],
  '@fastify/websocket': ['http'],
  ini: ['settings.ts'],
  'prom-client': ['http'],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

async function sourceFiles(): Promise<string[]> {
  const entries = await readdir(src, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(src, join(entry.parentPath, entry.name)));
}

async function pageFiles(): Promise<string[]> {
  const entries = await readdir(web, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(tsx?|css)$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
    .map((entry) => relative(web, join(entry.parentPath, entry.name)));
}

async function importsOf(file: string): Promise<Import[]> {
  const text = await readFile(join(src, file), 'utf8');
  const specifiers = [...text.matchAll(/^(?:import|export)\s[^;]*?from '([^']+)'|import\('([^']+)'\)/gm)].map(
    (found) => found[1] ?? found[2] ?? '',
  );
  return specifiers.map((to) => ({ from: file, to: to.startsWith('.') ? relative(src, resolve(src, dirname(file), to)) : to }));
}

const layerOf = (file: string): string => file.split('/', 1)[0] ?? '';
const files = (await sourceFiles()).filter((file) => !file.endsWith('.test.ts'));
const imports = (await Promise.all(files.map(importsOf))).flat();

describe('architecture', () => {
  it('has no arrow that is not declared', () => {
    const wrong = imports.filter(({ from, to }) => {
      const allowed = arrows[layerOf(from)];
      if (allowed === undefined || to.startsWith('node:') || !to.endsWith('.ts')) return false;
      return layerOf(to) !== layerOf(from) && !allowed.includes(layerOf(to)) && !allowed.includes(to);
    });
    assert.deepEqual(wrong, []);
  });

  it('has no folder without declared arrows', () => {
    const folders = new Set(files.filter((file) => file.includes('/')).map(layerOf));
    assert.deepEqual(
      [...folders].filter((folder) => !(folder in arrows)),
      [],
    );
  });

  it('enters the fabric through its doors only', () => {
    const wrong = imports.filter(
      ({ from, to }) => layerOf(to) === 'fabric' && layerOf(from) !== 'fabric' && !fabricDoors.includes(to),
    );
    assert.deepEqual(wrong, []);
  });

  it('keeps each library in its home', () => {
    const wrong = imports.filter(
      ({ from, to }) => to in libraryHomes && ![from, layerOf(from)].some((place) => libraryHomes[to]?.includes(place)),
    );
    assert.deepEqual(wrong, []);
  });

  it('names no kind of node outside its folder and the lists', async () => {
    const comparison = new RegExp(`(?:===|!==|case)\\s*'(?:${implementedTypes.join('|')})'`);
    const lists = ['emulators/kinds.ts', 'emulators/drivers.ts', 'schema/node.ts'];
    const wrong: string[] = [];
    for (const file of files) {
      // Upgrades translate what old files call nodes.
      if (/^(?:emulators\/[^/]+|controller\/upgrades)\//.test(file) || lists.includes(file)) continue;
      const text = await readFile(join(src, file), 'utf8');
      if (comparison.test(text)) wrong.push(file);
    }
    assert.deepEqual(wrong, []);
  });

  it('lets the page know of the server what things look like, and nothing that runs', async () => {
    const wrong: string[] = [];
    for (const file of await pageFiles()) {
      const text = await readFile(join(web, file), 'utf8');
      for (const [, what = '', to = ''] of text.matchAll(/^(import|export)\s[^;]*?from '(\.[^']+)'/gm)) {
        const target = relative(root, resolve(web, dirname(file), to));
        const isType = new RegExp(`^${what} type [^;]*?from '${to.replaceAll('.', '\\.')}'`, 'm').test(text);
        if (!target.startsWith('web/') && !(target.startsWith('src/schema/') && isType)) wrong.push(`${file}: ${to}`);
      }
    }
    assert.deepEqual(wrong, []);
  });
});
