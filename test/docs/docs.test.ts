/** Documents list the same as the code has. */
import assert from 'node:assert/strict';
import { access, glob, readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { fieldTables, keyTables } from '../../lab/field-tables.ts';
import { faultRows } from '../../src/api/faults.ts';
import { help } from '../../src/command-line.ts';
import { configurationPage } from '../../src/configuration-page.ts';
import { filterTypes } from '../../src/schema/filter-table.ts';
import { filesBelow, sourceFiles } from '../architecture/sources.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFile(resolve(root, path), 'utf8');

/** The file that the first change of CONTRIBUTING makes. */
const exampleFile = 'src/fabric/filters/filter-size-limit.ts';
const exists = (path: string) =>
  access(resolve(root, path)).then(
    () => true,
    () => false,
  );

describe('documents', () => {
  it('explain every error, with its status, and no other', async () => {
    const text = await read('docs/errors.md');
    const listed = [...text.matchAll(/^### `(\w+)` · (\d{3})$/gm)].map((found) => `${found[1]} ${found[2]}`);
    const rows = faultRows().map(({ code, status }) => `${code} ${status}`);
    assert.deepEqual(listed.toSorted(), rows.toSorted());
  });

  it('explain no error that nothing throws', async () => {
    const files = (await sourceFiles()).filter((file) => file !== 'src/api/faults.ts');
    const program = (await Promise.all(files.map((file) => read(file)))).join('\n');
    const thrown = new Set(Array.from(program.matchAll(/\bfault\(\s*'(\w+)'/g), (found) => found[1]));
    assert.deepEqual(
      faultRows().flatMap(({ code }) => (thrown.has(code) ? [] : [code])),
      [],
    );
  });

  it('list the filters in the order in which they act', async () => {
    const listed = [...(await read('docs/impairments.md')).matchAll(/^\| \d+ \| `(\w+)` \|/gm)].map((found) => found[1]);
    const settings = ['latency', 'jitter', 'match', 'seed'];
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

  it('list the fields of lab files', async () => {
    const text = await read('docs/lab-file.md');
    const tables = /<!-- fields -->\n\n(.*?)\n\n<!-- \/fields -->/s.exec(text)?.[1];
    assert.equal(tables, fieldTables(), 'put the output of `npm start -- lab fields` between the marks');
    const keys = /<!-- keys -->\n\n(.*?)\n\n<!-- \/keys -->/s.exec(text)?.[1];
    assert.equal(keys, keyTables(), 'put the output of `npm start -- lab fields --import` between the marks');
  });

  it('list every decision with its status', async () => {
    const files = (await readdir(resolve(root, 'docs/adr'))).filter((name) => name !== 'README.md').toSorted();
    const rows = await Promise.all(
      files.map(async (name) => {
        const [, number, title, status = ''] = /^# (\d+)\. (.*)\n\nStatus: (.*?)\.\n\n/s.exec(await read(`docs/adr/${name}`)) ?? [];
        return `| ${number} | [${title}](${name}) | ${status.replaceAll('\n', ' ')} |`;
      }),
    );
    const listed = (await read('docs/adr/README.md')).split('\n').filter((line) => /^\| \d/.test(line));
    assert.deepEqual(listed, rows);
  });

  it('give decisions that they link to their numbers', async () => {
    const wrong: string[] = [];
    let links = 0;
    for (const path of (await repositoryFiles()).filter((file) => file.endsWith('.md'))) {
      for (const [link, named, number] of (await read(path)).matchAll(/\[ADR\s+(\d+)\]\([^)]*?adr\/(\d{4})-/g)) {
        links++;
        if (Number(named) !== Number(number)) wrong.push(`${path}: ${link}`);
      }
    }
    assert.ok(links > 30, `found only ${links}`);
    assert.deepEqual(wrong, []);
  });

  it('wrap prose at 120 columns', async () => {
    const long: string[] = [];
    for await (const path of glob('{*,docs/**/*,bench/*,src/**/*,lab/**/*,cli/**/*,web/**/*,clients/*/*}.md', { cwd: root })) {
      const prose = (await read(path)).replaceAll(/^```.*?^```/gms, (code) => code.replaceAll(/[^\n]/g, ''));
      for (const [index, line] of prose.split('\n').entries()) {
        // Lines that are not tables, titles, pictures or code, and have a place to break at.
        if (line.length > 120 && !/^(\s*\||#|!\[|<| {4}\S)/.test(line) && / .* /.test(line.trim().slice(0, 121)))
          long.push(`${path}:${index + 1}`);
      }
    }
    assert.deepEqual(long, []);
  });

  it('name only npm scripts that exist', async () => {
    const scripts = Object.keys((JSON.parse(await read('package.json')) as { scripts: Record<string, string> }).scripts);
    for (const path of ['README.md', 'CONTRIBUTING.md', 'docs/architecture.md', 'docs/testing.md', 'bench/README.md']) {
      const named = [...(await read(path)).matchAll(/npm run ([\w:-]+)/g)].map((found) => found[1] as string);
      assert.deepEqual(
        named.filter((name) => !scripts.includes(name)),
        [],
        path,
      );
    }
  });

  it('name only files that exist', async () => {
    const missing: string[] = [];
    // Decisions tell of files of their time.
    for await (const path of glob('{*,docs/*,bench/*,test/conformance/*,clients/*/*}.md', { cwd: root })) {
      if (path === 'CHANGELOG.md') continue;
      const named = (await read(path)).matchAll(
        /`((?:src|test|lab|cli|web|scripts|bench|demo|packaging|clients)\/[\w./-]+\.\w+)`/g,
      );
      for (const [, name = ''] of named) if (name !== exampleFile && !(await exists(name))) missing.push(`${path}: ${name}`);
    }
    assert.deepEqual(missing, []);
  });

  it('name only options that the program takes', async () => {
    const known = new Set([...help.matchAll(/--[\w-]+/g)].map(([option]) => option));
    const text = (await read('README.md')) + (await read('docs/using.md'));
    const named = [...text.matchAll(/npm start -- ([^\n`]*)/g)].flatMap((found) => (found[1] ?? '').match(/--[\w-]+/g) ?? []);
    assert.deepEqual(
      named.filter((option) => !known.has(option)),
      [],
    );
  });

  it('name only files and folders that exist in the map of the tree', async () => {
    const chapters = (await read('docs/architecture.md')).split(/^## /m).filter((text) => !text.startsWith('What is on disk'));
    const named = [...chapters.join('').matchAll(/`((?:[\w-]+\/)*(?:[\w-]+\.(?:tsx?|mjs)|[\w-]+\/))`/g)].map(
      ([, path = '']) => path,
    );
    const known = (await repositoryFiles()).map((file) => `/${file}`);
    const exists = (path: string) =>
      known.some((file) => (path.endsWith('/') ? file.includes(`/${path}`) : file.endsWith(`/${path}`)));
    assert.ok(named.length > 80, `found only ${named.length}`);
    assert.deepEqual(
      named.filter((path) => !exists(path)),
      [],
    );
  });

  it('name only files that exist in the READMEs of kinds', async () => {
    const files = await repositoryFiles();
    const readmes = files.filter((file) => /^src\/emulators\/[\w-]+\/README\.md$/.test(file));
    assert.ok(readmes.length > 5);
    const missing = await Promise.all(
      readmes.map(async (readme) => {
        const named = [...(await read(readme)).matchAll(/`((?:\.\.\/|[\w-]+\/)*[\w-]+\.ts)`/g)].map(([, path = '']) => path);
        const isFile = (path: string) => files.includes(path) || files.includes(normalize(join(dirname(readme), path)));
        const isShared = (path: string) => files.some((file) => file.endsWith(`/${path}`));
        return named.filter((path) => !isFile(path) && !isShared(path)).map((path) => `${readme}: ${path}`);
      }),
    );
    assert.deepEqual(missing.flat(), []);
  });

  it('number the decisions without gaps, as their titles do', async () => {
    const names = (await readdir(resolve(root, 'docs/adr'))).filter((name) => name !== 'README.md').toSorted();
    const titles = await Promise.all(names.map(async (name) => /^# (\d+)\. /.exec(await read(`docs/adr/${name}`))?.[1]));
    const wanted = names.map((_, index) => index + 1);
    assert.deepEqual(
      names.map((name) => Number(/^(\d{4})-[a-z]/.exec(name)?.[1])),
      wanted,
    );
    assert.deepEqual(titles.map(Number), wanted);
  });

  it('link to files and chapters that exist', async () => {
    const documents = (await repositoryFiles()).filter((file) => file.endsWith('.md'));
    assert.ok(
      documents.includes('README.md') &&
        documents.includes('clients/pytest/README.md') &&
        documents.includes('docs/adr/0001-typescript-run-directly.md'),
    );
    const broken = await Promise.all(documents.map(brokenLinks));
    assert.deepEqual(broken.flat(), []);
  });
});

async function repositoryFiles(): Promise<string[]> {
  const folders = ['src', 'lab', 'cli', 'web', 'test', 'demo', 'bench', 'clients', 'docs', 'scripts', 'packaging'];
  const below = await Promise.all(
    folders.map(async (folder) => (await filesBelow(resolve(root, folder), /./)).map((file) => `${folder}/${file}`)),
  );
  return [...(await filesOfRoot()), ...below.flat()];
}

async function filesOfRoot(): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** Targets outside of code that lead to no file, or to no heading of it. */
async function brokenLinks(document: string): Promise<string[]> {
  const text = (await read(document)).replaceAll(/```.*?```|`[^`\n]*`/gs, '');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target).filter((target) => !/^\w+:/.test(target));
  const found = await Promise.all(targets.map((target) => leadsSomewhere(document, target)));
  return targets.flatMap((target, index) => (found[index] ? [] : [`${document}: ${target}`]));
}

async function leadsSomewhere(document: string, target: string): Promise<boolean> {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? document : relative(root, resolve(root, dirname(document), path));
  try {
    await access(resolve(root, file));
    return anchor === undefined || (await anchorsOf(file)).includes(anchor);
  } catch {
    return false;
  }
}

/** Anchors that GitHub makes of headings. */
async function anchorsOf(file: string): Promise<string[]> {
  return [...(await read(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
