/**
 * Errors that the compiler and the linter report of any file fail `npm test`. What an earlier run accepted is not looked at again: the compiler
 * keeps its build information in `.cache/types`, which names each file by its content, and `.cache/lint` keeps the hashes of files
 * without a complaint. A fresh clone has neither.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { LintedFiles } from './linted-files.ts';

const root = resolve(import.meta.dirname, '../..');
const compiler = 'node_modules/typescript/bin/tsc';
/** Several checkers look at the same files: on cores that other tests keep busy, one is done earlier, with a third of the processor time. */
const one = ['--checkers', '1'];
const linter = ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '--error-on-warnings'];
const buildInfos = resolve(root, '.cache/types');

for (const [name, project] of [
  ['types', '.'],
  ['types of the page', 'web'],
] as const) {
  test(name, async (context) => {
    // A run writes a file of its own: another run at the same time reads a whole one.
    await mkdir(buildInfos, { recursive: true });
    const kept = resolve(buildInfos, `${project === '.' ? 'main' : project}.tsbuildinfo`);
    const own = `${kept}.${process.pid}`;
    context.after(() => rm(own, { force: true }));
    await copyFile(kept, own).catch(() => undefined);
    await run([compiler, '-p', project, ...one, '--incremental', '--tsBuildInfoFile', own]);
    await rename(own, kept);
  });
}

test('lint and format', async () => {
  const files = await LintedFiles.read(root);
  const changed = files.listChanged();
  if (changed === undefined) await run([...linter, '.']);
  else if (changed.length > 0) await run([...linter, '--files-ignore-unknown=true', '--no-errors-on-unmatched', ...changed]);
  await files.keep();
});

/** Runs the program of a package. @throws with its output, when it fails */
async function run(args: readonly string[]): Promise<void> {
  // Go collects garbage less often: two thirds of the processor time, and a tenth more memory.
  const env = { ...process.env, GOGC: '400' };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const code = new Promise((done) => child.once('close', done));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.equal(await code, 0, `${args.slice(0, 3).join(' ')}:\n${output}${errors}`);
}
