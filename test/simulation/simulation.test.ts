/** Plays as many schedules as a few seconds of processor time allow: `npm run fuzz -- 20000 simulate` plays others. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

/** Runs the simulation in a process of its own, as its modules have stand-ins for those of Node. */
async function simulate(...args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, 'main.ts'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const code = new Promise<number>((done) => child.once('close', done));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, output: output + errors };
}

test('whatever happens in what order, what is wanted runs in the end, and nothing else does', { timeout: 800_000 }, async () => {
  const { code, output } = await simulate('500', '--seed', '1', '--seconds', '15');
  assert.equal(code, 0, output);
  assert.match(output, /^\d{3,} plays/m);
});

test('a deliberate fault is found', async () => {
  const { code, output } = await simulate('20000', '--fault', 'unknown-withdrawn');
  assert.equal(code, 1, output);
  assert.match(output, /^Seed \d+: /m);
});
