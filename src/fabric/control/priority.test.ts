import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const raiser = fileURLToPath(new URL('./priority.ts', import.meta.url));
/** Prints the real-time priority of each thread. @see proc(5): field 40, `rt_priority` */
const program = `
import { readdirSync, readFileSync } from 'node:fs';
import { raisePriority } from ${JSON.stringify(raiser)};
raisePriority();
const priorityOf = (thread) => {
  const text = readFileSync('/proc/self/task/' + thread + '/stat', 'utf8');
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[37]);
};
console.log(JSON.stringify(readdirSync('/proc/self/task').map(priorityOf)));
`;

// The main thread repeats tasks of the garbage collector until helpers have done their part: ahead of them it would keep the processor for ever.
it('gives all threads of the fabric the same priority, in real time', async (context) => {
  const isPermitted = await run('chrt', ['--rr', '1', 'true']).then(
    () => availableParallelism() > 1,
    () => false,
  );
  if (!isPermitted) return context.skip('no real time here');
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
  const priorities = JSON.parse(stdout) as number[];
  assert.ok(priorities.length > 1);
  assert.deepEqual([...new Set(priorities)], [1]);
});
