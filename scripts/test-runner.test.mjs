/** The runner with files that hang or leave processes behind. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

const folder = path.join(import.meta.dirname, 'test-fixtures');
const limits = { testMs: 300_000, hookMs: 120_000, fileMs: 900_000, graceMs: 500 };

/** Resolves to the exit code and the output, once the runner and all processes with its output have ended. */
async function runFixture(name, changed, variables = {}) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const files = name.split(' ').map((one) => path.join(folder, `${one}.mjs`));
  const args = [path.join(folder, 'run.mjs'), JSON.stringify({ ...limits, ...changed }), ...files];
  const child = spawn(process.execPath, args, { env: { ...env, ...variables }, stdio: ['ignore', 'pipe', 'inherit'] });
  const code = new Promise((resolve) => child.once('close', resolve));
  const output = await text(child.stdout);
  return { code: await code, output };
}

function commandLines() {
  return readdirSync('/proc').map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  });
}

const isRunning = (...command) => commandLines().includes(`${command.join('\0')}\0`);

test('a file whose tests pass passes', async () => {
  const { code, output } = await runFixture('good', {});
  assert.match(output, /^ℹ tests 1$/m);
  assert.match(output, /^ℹ fail 0$/m);
  assert.equal(code, 0);
});

test('a file of which no test ran is shown as skipped, with its reason', async () => {
  const { code, output } = await runFixture('skipped good', {});
  assert.match(output, /^– scripts\/test-fixtures\/skipped\.mjs \(skipped: missing: a program\)$/m);
  assert.match(output, /^✔ scripts\/test-fixtures\/good\.mjs \(1, /m);
  assert.equal(code, 0);
});

test('the table has the processor time of each file', async () => {
  const { output } = await runFixture('good second-of-suite', {});
  assert.match(output, /^ +\d+\.\d +\d+\.\d +\d+\.\d {2}scripts\/test-fixtures\/second-of-suite\.mjs$/m);
  assert.match(output, /^ +\d+\.\d +\d+\.\d +\d+\.\d {2}all 2 files$/m);
});

test('a hook that hangs fails its file, and the message names it', async () => {
  const { code, output } = await runFixture('hook-hangs', { hookMs: 1000, quietMs: 10_000 });
  assert.match(output, /The before hook at scripts\/test-fixtures\/hook-hangs\.mjs:3 did not end within 1 s/);
  assert.equal(code, 1);
});

test('a file that hangs is ended with its server, and the message names the test that ran', async () => {
  const { code, output } = await runFixture('file-hangs', { fileMs: 6000 });
  assert.match(output, /file-hangs\.mjs was ended: it did not end within 6 s; running: "stands still"/);
  assert.match(output, /^ℹ fail [1-9]/m);
  assert.equal(code, 1);
  assert.equal(isRunning('sleep', '601.25'), false);
});

test('a test that never yields is ended', async () => {
  const { code, output } = await runFixture('loop', { testMs: 500, hookMs: 2500, quietMs: 60_000 });
  assert.match(output, /loop\.mjs was ended: the test "never yields" or its hooks did not end within 3 s/);
  assert.equal(code, 1);
});

test('a file that hangs before its first test is ended', async () => {
  const { code, output } = await runFixture('quiet', { hookMs: 1000 });
  assert.match(output, /quiet\.mjs was ended: no test of it ran for 1.25 s/);
  assert.equal(code, 1);
});

test('a file is not ended while the second test of a suite runs', async () => {
  const { code, output } = await runFixture('second-of-suite', { quietMs: 4000 });
  assert.match(output, /^ℹ pass 2$/m);
  assert.equal(code, 0);
});

test('a server that is left behind fails its file, and is ended', async () => {
  const { code, output } = await runFixture('server-left', {});
  assert.match(output, /server-left\.mjs left behind:\n\s+process \d+: sleep 602\.25/);
  assert.equal(code, 1);
  assert.equal(isRunning('sleep', '602.25'), false);
});

test('a runner that is killed ends its test processes', { timeout: 30_000 }, async (t) => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const file = path.join(folder, 'quiet.mjs');
  const runner = spawn(process.execPath, [path.join(folder, 'run.mjs'), JSON.stringify(limits), file], { env, stdio: 'ignore' });
  const isThere = () => commandLines().some((line) => line.endsWith(`${file}\0`) && !line.includes('run.mjs'));
  t.after(() => runner.kill('SIGKILL'));
  while (!isThere()) await pause(20, undefined, { signal: t.signal });
  runner.kill('SIGKILL');
  while (isThere()) await pause(20, undefined, { signal: t.signal });
});

test('a server whose fixture fails half-way ends with its file', async () => {
  const { code, output } = await runFixture('set-up-fails', {});
  assert.match(output, /half-way/);
  assert.doesNotMatch(output, /was ended|left behind/);
  assert.equal(code, 1);
});
