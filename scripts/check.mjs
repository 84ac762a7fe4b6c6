/**
 * Everything that can be checked without an emulator, in under a minute: lint and format, types, then the tests beside the code
 * and those of the architecture and the documents. Tests that start emulators are a driver's (`driver.test.ts`), or live in `test/`.
 */
import { spawn } from 'node:child_process';
import { glob } from 'node:fs/promises';
import { runTests } from './test-runner.mjs';

const tools = [
  {
    name: 'lint and format',
    file: 'node_modules/@biomejs/biome/bin/biome',
    args: ['ci', '--colors=off', '--error-on-warnings', '.'],
  },
  { name: 'types', file: 'node_modules/typescript/bin/tsc', args: ['-p', '.'] },
  { name: 'types of the page', file: 'node_modules/typescript/bin/tsc', args: ['-p', 'web'] },
];
const patterns = [
  'src/**/*.test.ts',
  'web/**/*.test.ts',
  'demo/**/*.test.ts',
  'scripts/**/*.test.mjs',
  'test/architecture/**/*.test.ts',
  'test/docs/**/*.test.ts',
];

const began = performance.now();
const good = await Promise.all(tools.map(runTool));
const files = [];
for await (const file of glob(patterns)) if (!file.endsWith('/driver.test.ts')) files.push(file);
const testsCode = await runTests(files.sort());
const passed = good.every(Boolean) && testsCode === 0;
console.log(`check: ${passed ? 'good' : 'FAILED'}, ${((performance.now() - began) / 1000).toFixed(1)} s`);
process.exitCode = passed ? 0 : 1;

/** Prints the tool's output in one piece, when it has ended. */
function runTool({ name, file, args }) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('close', (code) => {
      console.log(`${code === 0 ? '✔' : '✖'} ${name}${code === 0 ? '' : `\n${output}`}`);
      resolve(code === 0);
    });
  });
}
