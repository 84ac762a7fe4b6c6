/**
 * All checks without an emulator, in about a minute: types, lint and format, then the tests beside the code and
 * the tests of architecture and documents. `npm test` runs the same and more. Tests that start emulators are a driver's
 * (`driver.test.ts`), or live in `test/`.
 */
import { glob } from 'node:fs/promises';
import { runTests } from './test-runner.mjs';

const patterns = [
  'test/tools/*.test.ts',
  'src/**/*.test.ts',
  'web/**/*.test.ts',
  'demo/**/*.test.ts',
  'scripts/**/*.test.mjs',
  'test/architecture/**/*.test.ts',
  'test/docs/**/*.test.ts',
];
const files = [];
for (const pattern of patterns) {
  for await (const file of glob(pattern)) if (!file.endsWith('/driver.test.ts')) files.push(file);
}
const began = performance.now();
process.exitCode = await runTests(files);
console.log(`check: ${process.exitCode === 0 ? 'good' : 'FAILED'}, ${((performance.now() - began) / 1000).toFixed(1)} s`);
