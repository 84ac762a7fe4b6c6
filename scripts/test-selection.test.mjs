/** Test files that a folder selects, and that a change selects. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const selection = pathToFileURL(path.join(import.meta.dirname, 'test-selection.mjs')).href;

/** A repository with `src/a.ts`, which `src/b.ts` imports, and a test beside each of a, b and c. */
async function makeRepository(t) {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'pb-')));
  t.after(() => rm(folder, { recursive: true }));
  const git = (...args) => run('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: folder });
  await mkdir(path.join(folder, 'src'));
  const files = { 'a.ts': '', 'b.ts': "import './a.ts';", 'c.ts': '' };
  for (const name of ['a', 'b', 'c']) files[`${name}.test.ts`] = `import './${name}.ts';`;
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, 'src', name), text);
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  await git('commit', '-qm', 'first');
  const select = async (call) => {
    const code = `import * as s from ${JSON.stringify(selection)}; console.log(JSON.stringify(await s.${call}));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: folder });
    return JSON.parse(stdout)
      .map((file) => path.relative(folder, file))
      .sort();
  };
  return { folder, git, select };
}

test('a folder selects the tests in it, a file itself', async (t) => {
  const { select } = await makeRepository(t);
  assert.deepEqual(await select("listFiles(['src'])"), ['src/a.test.ts', 'src/b.test.ts', 'src/c.test.ts']);
  assert.deepEqual(await select("listFiles(['src/b.test.ts'])"), ['src/b.test.ts']);
});

test('a change selects the tests that import what changed, committed, uncommitted or new', async (t) => {
  const { folder, git, select } = await makeRepository(t);
  const changed = () => select("listChanged(['src'], 'main')");
  assert.deepEqual(await changed(), []);
  await writeFile(path.join(folder, 'src/a.ts'), '// changed');
  assert.deepEqual(await changed(), ['src/a.test.ts', 'src/b.test.ts']);
  await git('checkout', '-qb', 'work');
  await git('commit', '-qam', 'second');
  await writeFile(path.join(folder, 'src/d.test.ts'), '');
  assert.deepEqual(await changed(), ['src/a.test.ts', 'src/b.test.ts', 'src/d.test.ts']);
});
