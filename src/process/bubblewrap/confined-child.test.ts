/** A child that bubblewrap starts is the confined program: what is recorded, stopped and taken over is that, and nothing is left of the rest. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { jobVariable } from '../../lib/job-variable.ts';
import { adoptChild, type Child, type ChildSpec, spawnChild } from '../child.ts';
import { endMarked, listMarked } from '../orphans.ts';
import { processFacts } from '../proc.ts';
import { bubblewrapWords } from './bubblewrap.ts';
import { systemCallFilter } from './system-call-filter.ts';
import { bubblewrapObstacle } from './usable.ts';

const obstacle = await bubblewrapObstacle();
const skip = obstacle === undefined ? false : `bubblewrap cannot be used: ${obstacle}`;
const timeout = 60_000;

describe('a confined child', { skip, timeout }, () => {
  let folder: string;
  let count = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pb-confined-'));
  });
  after(async () => {
    const left = await listMarked(folder);
    await endMarked(left, 0);
    await rm(folder, { recursive: true });
    assert.deepEqual(left, [], 'processes are left');
  });

  async function start(script: string, more: Pick<ChildSpec, 'niceness'> = {}): Promise<Child> {
    const root = { reads: [], writes: [folder] };
    const [program = '', ...args] = bubblewrapWords({ root, workingFolder: folder, ends: 'alone' });
    count += 1;
    const logFile = join(folder, `log${count}`);
    const command = { program, args: [...args, 'sh', '-c', script], filter: systemCallFilter() };
    return spawnChild({ ...command, ...more, cwd: folder, logFile, runDirectory: folder });
  }
  async function says(child: Child, word: string): Promise<void> {
    while (!(await child.tail()).includes(word)) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const polite = 'trap "sleep 1; echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done';

  test('is the program itself, the first in its PID namespace, and carries the marker', async () => {
    const child = await start('echo "ready $$"; while :; do sleep 0.05; done');
    await says(child, 'ready 1');
    assert.match(await readFile(`/proc/${child.pid}/cmdline`, 'latin1'), /^sh\0-c\0echo/);
    assert.equal(processFacts(child.pid)?.startTime, child.startTime);
    assert.notEqual(processFacts(child.pid)?.session, processFacts(process.pid)?.session);
    const pids = (await listMarked(folder)).map(({ pid }) => pid);
    assert.ok(pids.includes(child.pid));
    assert.equal((await child.stop({ graceMs: 0 })).how, 'killed');
    assert.deepEqual(await listMarked(folder), []);
  });

  test('carries the number of its Slurm job, by which the script of the job ends it when the server was killed', async (t) => {
    process.env[jobVariable] = '17';
    t.after(() => {
      delete process.env[jobVariable];
    });
    const child = await start(polite);
    await says(child, 'ready');
    const environment = (await readFile(`/proc/${child.pid}/environ`, 'utf8')).split('\0');
    assert.ok(environment.includes(`${jobVariable}=17`), environment.join(' '));
    await child.stop({ graceMs: 0 });
  });

  test('has its nice value from its first thread and child on, also where this process is late', async (t) => {
    // Holds the event loop, as full processors of a host do.
    const late = setInterval(() => {
      const until = performance.now() + 100;
      while (performance.now() < until);
    }, 0);
    const child = await start('sleep 60 & echo ready; wait', { niceness: 7 }).finally(() => clearInterval(late));
    t.after(() => child.stop({ graceMs: 0 }));
    await says(child, 'ready');
    const niceOf = async (pid: number) => {
      const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).replace(/.*\) /, '').split(' ');
      return Number(fields[16]);
    };
    const values = await Promise.all((await listMarked(folder)).map(({ pid }) => niceOf(pid)));
    assert.ok(values.length > 1);
    assert.deepEqual(new Set(values), new Set([7]));
  });

  test('is asked to end and takes its time, as one that is not confined', async () => {
    const child = await start(polite);
    await says(child, 'ready');
    const outcome = await child.stop({ graceMs: 20_000 });
    assert.deepEqual([outcome.how, outcome.code], ['stopped', 7]);
    assert.match(outcome.tail, /bye/);
  });

  test('ends with its own exit code, or with the signal that ended it', async () => {
    assert.deepEqual(await (await start('exit 3')).outcome, { how: 'exited', code: 3, tail: '' });
    const killed = await start('echo ready; sleep 60');
    await says(killed, 'ready');
    process.kill(killed.pid, 'SIGKILL');
    const { how, signal } = await killed.outcome;
    assert.deepEqual([how, signal], ['exited', 'SIGKILL']);
  });

  test('is taken over by its pid, stopped politely and wholly', async () => {
    const child = await start(polite);
    await says(child, 'ready');
    const { pid, startTime } = child;
    child.release();
    const adopted = await adoptChild({ pid, startTime, logFile: join(folder, `log${count}`), runDirectory: folder });
    assert.ok(adopted);
    const outcome = await adopted.stop({ graceMs: 20_000 });
    assert.equal(outcome.how, 'stopped');
    assert.match(outcome.tail, /bye/);
    assert.deepEqual(await listMarked(folder), []);
  });

  test('that cannot be confined ends with the words of bubblewrap, and a program that is missing as not started', async () => {
    const logFile = join(folder, 'log');
    const missing = { reads: [join(folder, 'missing')], writes: [] };
    const [program = '', ...args] = bubblewrapWords({ root: missing, workingFolder: '/', ends: 'alone' });
    const base = { cwd: folder, logFile, runDirectory: folder, filter: systemCallFilter() };
    const outcome = await (await spawnChild({ ...base, program, args: [...args, 'true'] })).outcome;
    assert.equal(outcome.how, 'exited');
    assert.match(outcome.tail, /bwrap: Can't find source path .*missing/);
    assert.equal((await (await spawnChild({ ...base, program: '/no/bwrap', args })).outcome).how, 'failed-to-start');
  });
});
