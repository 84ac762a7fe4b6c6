import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { adoptChild, type Child, type ChildSpec, spawnChild } from './child.ts';
import { endMarked, listMarked } from './orphans.ts';
import { groupMembers, isRunning, processFacts } from './proc.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-child-'));
});
after(async () => {
  // Nothing may be left running; what is left is ended, and fails the suite.
  const left = await listMarked(folder);
  await endMarked(left, 0);
  await rm(folder, { recursive: true });
  assert.deepEqual(left, []);
});

let count = 0;
function spec(script: string, more: Partial<ChildSpec> = {}): ChildSpec {
  count += 1;
  return { program: 'sh', args: ['-c', script], cwd: folder, logFile: join(folder, `log${count}`), runDirectory: folder, ...more };
}

/** Looks every 5 ms, for at most a minute: a limit for hanging. */
async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > limit) assert.fail(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
const says = (child: Child, word: string) => until(`output "${word}"`, async () => (await child.tail()).includes(word));

test('a child that ends by itself has exited, with its code and last words', async () => {
  const child = await spawnChild(spec('echo out; echo err >&2; exit 3'));
  assert.deepEqual(await child.outcome, { how: 'exited', code: 3, tail: 'out\nerr' });
  assert.ok(child.startTime > 0);
  assert.equal(processFacts(child.pid), undefined);
});

test('a program that does not exist has failed to start', async () => {
  const child = await spawnChild(spec('', { program: '/nonexistent/program' }));
  const outcome = await child.outcome;
  assert.equal(outcome.how, 'failed-to-start');
  assert.match(outcome.tail, /ENOENT/);
  assert.equal((await child.stop({ graceMs: 10 })).how, 'failed-to-start');
});

test('a log that cannot be written is a failure to start', async () => {
  const child = await spawnChild(spec('true', { logFile: join(folder, 'no', 'log') }));
  assert.match((await child.outcome).tail, /cannot write/);
});

test('a child leads its own session and carries the marker', async () => {
  const child = await spawnChild(
    spec('echo "run=$PATCHBAY_RUN extra=$EXTRA"; while :; do sleep 1; done', { env: { EXTRA: 'yes' } }),
  );
  await says(child, `run=${folder} extra=yes`);
  assert.equal(processFacts(child.pid)?.session, child.pid);
  const marked = await listMarked(folder);
  assert.ok(marked.some(({ pid, sid, startTime }) => pid === child.pid && sid === child.pid && startTime === child.startTime));
  assert.deepEqual(await listMarked(`${folder}x`), []);
  assert.equal((await child.stop({ graceMs: 2000 })).how, 'stopped');
});

test('stop is polite: a handler of SIGTERM runs, and its exit code is reported', async () => {
  const child = await spawnChild(spec('trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done'));
  await says(child, 'ready');
  const { how, code, tail } = await child.stop({ graceMs: 5000 });
  assert.deepEqual([how, code], ['stopped', 7]);
  assert.match(tail, /^ready\n(Terminated\n)?bye$/);
});

test('a child that ignores SIGTERM is killed, together with its children', async () => {
  const child = await spawnChild(spec('trap "" TERM; sleep 61 & echo ready; while :; do sleep 0.05; done'));
  await says(child, 'ready');
  const outcome = await child.stop({ graceMs: 50 });
  assert.equal(outcome.how, 'killed');
  assert.equal(outcome.signal, 'SIGKILL');
  assert.deepEqual(await groupMembers(child.pid), []);
});

test('what a child forked ends with it, whether it was asked to stop or not', async () => {
  const alone = await spawnChild(spec('sleep 62 & sleep 62 & echo ready; exit 0'));
  assert.equal((await alone.outcome).how, 'exited');
  assert.deepEqual(await groupMembers(alone.pid), []);
  const asked = await spawnChild(spec('(trap "" TERM; echo ready; while :; do sleep 0.05; done) & wait'));
  await says(asked, 'ready');
  assert.equal((await asked.stop({ graceMs: 1000 })).how, 'stopped');
  assert.deepEqual(await groupMembers(asked.pid), []);
});

test('the first cause wins: stopping what has ended changes nothing', async () => {
  const child = await spawnChild(spec('exit 4'));
  await child.outcome;
  assert.deepEqual(await child.stop({ graceMs: 10 }), { how: 'exited', code: 4, tail: '' });
});

test('a signal from elsewhere is an exit with that signal', async () => {
  const child = await spawnChild(spec('exec sleep 63'));
  process.kill(child.pid, 'SIGSEGV');
  assert.deepEqual(await child.outcome, { how: 'exited', signal: 'SIGSEGV', tail: '' });
});

test('the tail is at most 4 KiB, and of this run only', async () => {
  const logFile = join(folder, 'long');
  await writeFile(logFile, 'an earlier run\n');
  const child = await spawnChild(spec('echo now', { logFile, append: true }));
  assert.equal((await child.outcome).tail, 'now');
  assert.equal(await readFile(logFile, 'utf8'), 'an earlier run\nnow\n');
  const long = await spawnChild(spec('seq 1 5000', { logFile }));
  const { tail } = await long.outcome;
  assert.ok(tail.length <= 4096 && tail.endsWith('5000'));
});

test('a log that is another thing by now is moved aside: a link is not followed, a pipe is not waited for', async () => {
  const outside = join(folder, 'outside');
  await writeFile(outside, 'kept');
  const put: Readonly<Record<string, (path: string) => unknown>> = {
    link: (path) => symlink(outside, path),
    'second name': (path) => link(outside, path),
    loop: (path) => symlink(path, path),
    folder: (path) => mkdir(path),
    pipe: (path) => execFileSync('mkfifo', [path]),
  };
  for (const [what, make] of Object.entries(put)) {
    for (const append of [false, true]) {
      const logFile = join(folder, `${what} ${append}`);
      await make(logFile);
      const child = await spawnChild(spec('echo said', { logFile, append }));
      assert.deepEqual(await child.outcome, { how: 'exited', code: 0, tail: 'said' }, what);
      assert.ok((await lstat(logFile)).isFile(), what);
    }
  }
  assert.equal(await readFile(outside, 'utf8'), 'kept');
});

test('a released child is adopted by its record, and stops', async () => {
  const first = await spawnChild(spec('trap "exit 0" TERM; echo ready; while :; do sleep 0.05; done'));
  await says(first, 'ready');
  const record = { pid: first.pid, startTime: first.startTime, logFile: join(folder, `log${count}`), runDirectory: folder };
  first.release();
  const second = await adoptChild(record);
  assert.ok(second);
  assert.equal(await second.tail(), 'ready');
  assert.equal((await second.stop({ graceMs: 5000 })).how, 'stopped');
  assert.equal(isRunning(record.pid, record.startTime), false);
  assert.equal(await adoptChild(record), undefined);
});

test('an adopted child that ends by itself is lost; one that ignores SIGTERM is killed', async () => {
  const first = await spawnChild(spec('until [ -e go ]; do sleep 0.02; done; echo last words'));
  const record = { pid: first.pid, startTime: first.startTime, logFile: join(folder, `log${count}`) };
  const adopted = await adoptChild(record);
  await writeFile(join(folder, 'go'), '');
  assert.deepEqual(await adopted?.outcome, { how: 'lost', tail: 'last words' });

  const stubborn = await spawnChild(spec('trap "" TERM; echo ready; while :; do sleep 0.05; done'));
  await says(stubborn, 'ready');
  const taken = await adoptChild({ pid: stubborn.pid, startTime: stubborn.startTime, logFile: join(folder, `log${count}`) });
  assert.equal((await taken?.stop({ graceMs: 30 }))?.how, 'killed');
});

test('a child that becomes another program at that moment is adopted', async () => {
  const again = join(folder, 'again.sh');
  await writeFile(again, 'exec sh "$0"\n');
  const child = await spawnChild(spec(`exec sh ${again}`));
  const record = { pid: child.pid, startTime: child.startTime, logFile: join(folder, `log${count}`), runDirectory: folder };
  for (let look = 0; look < 200; look++) {
    const adopted = await adoptChild(record);
    assert.ok(adopted, `look ${look}`);
    adopted.release();
  }
  await child.stop({ graceMs: 1000 });
});

test('a pid that is now another process, or another server’s, is not adopted', async () => {
  const child = await spawnChild(spec('exec sleep 64'));
  const record = { pid: child.pid, startTime: child.startTime, logFile: join(folder, 'log') };
  assert.equal(await adoptChild({ ...record, startTime: child.startTime + 1 }), undefined);
  assert.equal(await adoptChild({ ...record, runDirectory: '/somewhere/else' }), undefined);
  await child.stop({ graceMs: 1000 });
});

test('an orphan is found by its marker and ended', async () => {
  const child = await spawnChild(spec('trap "" TERM; (setsid sleep 65) & echo ready; while :; do sleep 0.05; done'));
  await says(child, 'ready');
  // A child that has not become its program yet may start another process, and has no marker while it becomes that.
  const isEscaped = async ({ pid, sid }: { pid: number; sid: number }) =>
    sid === pid && (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) === ['sleep', '65', ''].join('\0');
  await until('the escaped child', async () => {
    for (const found of await listMarked(folder)) if (await isEscaped(found)) return true;
    return false;
  });
  await endMarked(await listMarked(folder), 100);
  await child.outcome;
  assert.deepEqual(await listMarked(folder), []);
});
