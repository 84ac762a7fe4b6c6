/**
 * All checks without an emulator: types, lint and format, then the tests beside the code and the tests of architecture and documents.
 * `npm test` runs the same and more. Tests that start emulators are a driver's (`driver.test.ts`), boot a guest
 * (`test/support/ipxe-guest.ts`), make a bundle, whose server starts nodes (`bundle-program.test.mjs`), or live in `test/`.
 */
import { glob, readFile } from 'node:fs/promises';
import { runTests } from './test-runner.mjs';

const patterns = [
  'test/tools/*.test.ts',
  // Tests of the scripts wait most of their time: they begin early, and others compute meanwhile.
  'scripts/**/*.test.mjs',
  '{src,lab,cli}/**/*.test.ts',
  'web/**/*.test.ts',
  'demo/**/*.test.ts',
  'test/architecture/**/*.test.ts',
  'test/docs/**/*.test.ts',
];
const files = [];
for (const pattern of patterns) {
  for await (const file of glob(pattern)) if (!(await startsEmulator(file))) files.push(file);
}
const began = performance.now();
process.exitCode = await runTests(files, { share: true });
console.log(`check: ${process.exitCode === 0 ? 'good' : 'FAILED'}, ${((performance.now() - began) / 1000).toFixed(1)} s`);

async function startsEmulator(file) {
  if (/\/(?:driver\.test\.ts|bundle-program\.test\.mjs)$/.test(file)) return true;
  return (await readFile(file, 'utf8')).includes('support/ipxe-guest.ts');
}
