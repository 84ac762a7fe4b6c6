/**
 * All tests: those beside the code, and those of `test/`. Arguments that are files or patterns replace the whole; options, such as
 * `--test-name-pattern=…`, go to Node's test runner. Two files run at a time: each may hold several virtual machines.
 */
import { ensureGuest } from '../demo/guest/guest.ts';
import { runTests } from './test-runner.mjs';

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log('Usage: npm test [-- FILE-OR-PATTERN… --test-name-pattern=TEXT …]');
  process.exit(0);
}
const options = args.filter((arg) => arg.startsWith('-'));
const patterns = args.filter((arg) => !arg.startsWith('-'));
const everything = ['src/**/*.test.ts', 'web/**/*.test.ts', 'demo/**/*.test.ts', 'scripts/**/*.test.mjs', 'test/**/*.test.ts'];
// Made once here, not by two tests at the same time. A test that needs the guest says itself why there is none.
await ensureGuest(console.log).catch((error) => console.error(error.message));
process.exitCode = await runTests(patterns.length > 0 ? patterns : everything, options);
