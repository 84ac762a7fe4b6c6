/** Errors that the compiler and the linter report of any file fail `npm test`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const compiler = 'node_modules/typescript/bin/tsc';
/** Several checkers look at the same files: on cores that other tests keep busy, one is done earlier, with a third of the processor time. */
const one = ['--checkers', '1'];
const tools = {
  types: [compiler, '-p', '.', ...one],
  'types of the page': [compiler, '-p', 'web', ...one],
  'lint and format': ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '--error-on-warnings', '.'],
};

for (const [name, args] of Object.entries(tools)) {
  test(name, async () => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const code = new Promise((done) => child.once('close', done));
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    assert.equal(await code, 0, `${name}:\n${output}${errors}`);
  });
}
