import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const raiser = fileURLToPath(new URL('./priority.ts', import.meta.url));
/** Prints the real-time priority of the main thread, then that of each other one. @see proc(5): field 40, `rt_priority` */
const program = `
import { readdirSync, readFileSync } from 'node:fs';
import { raisePriority } from ${JSON.stringify(raiser)};
raisePriority();
const priorityOf = (thread) => {
  const text = readFileSync('/proc/self/task/' + thread + '/stat', 'utf8');
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[37]);
};
const threads = readdirSync('/proc/self/task').filter((thread) => thread !== String(process.pid));
console.log(JSON.stringify([priorityOf(process.pid), ...threads.map(priorityOf)]));
`;

describe('priority of the fabric', () => {
  it('puts its main thread ahead of its other ones, and all in real time', async (context) => {
    const isPermitted = await run('chrt', ['--rr', '2', 'true']).then(
      () => availableParallelism() > 1,
      () => false,
    );
    if (!isPermitted) return context.skip('no real time here');
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
    const [main, ...others] = JSON.parse(stdout) as number[];
    assert.equal(main, 2);
    assert.ok(others.length > 0 && others.every((priority) => priority === 1), stdout);
  });
});
