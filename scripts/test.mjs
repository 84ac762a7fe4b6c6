/**
 * All tests: those beside the code, and those of `test/`. Arguments that are files or patterns replace the whole; options, such as
 * `--test-name-pattern=…`, go to Node's test runner. Two files run at a time: each may hold several virtual machines.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureGuest } from '../demo/guest/guest.ts';
import { runTests } from './test-runner.mjs';

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log('Usage: npm test [-- FILE-OR-PATTERN… --test-name-pattern=TEXT …]');
  process.exit(0);
}
const options = args.filter((arg) => arg.startsWith('-'));
const patterns = args.filter((arg) => !arg.startsWith('-'));
const everything = ['src/**/*.test.ts', 'demo/**/*.test.ts', 'scripts/**/*.test.mjs', 'test/**/*.test.ts'];
// Made once here, not by two tests at the same time. A test that needs the guest says itself why there is none.
await ensureGuest(console.log).catch((error) => console.error(error.message));
const folder = await mkdtemp(path.join(tmpdir(), 'patchbay-tests-'));
try {
  // Real machines on a busy host: what failed gets a second chance, and both results are shown.
  const run = () =>
    runTests(patterns.length > 0 ? patterns : everything, [`--test-rerun-failures=${folder}/state.json`, ...options]);
  let code = await run();
  if (code === 1) {
    console.log('\nWhat failed is run once more:');
    code = await run();
  }
  process.exitCode = code;
} finally {
  await rm(folder, { recursive: true, force: true });
}
