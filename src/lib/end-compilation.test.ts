import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const module = JSON.stringify(new URL('./end-compilation.ts', import.meta.url).href);
/** Far more often than V8 needs to optimize it. */
const hot = (name: string) => `function ${name}(a) { return a * 2 + 1 } for (let i = 0; i < 3e6; i++) sum += ${name}(i)`;

test('no function is optimized once the process is about to exit', async () => {
  const script = `import { endCompilation } from ${module};
    let sum = 0; ${hot('before')}; endCompilation(); ${hot('after')}`;
  const args = ['--trace-opt', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000, maxBuffer: 1 << 24 });
  assert.match(stdout, /compiling method .*JSFunction before/);
  assert.doesNotMatch(stdout, /compiling method .*JSFunction after/);
});
