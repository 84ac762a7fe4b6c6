import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '../../test/support/wait-for.ts';
import { bootMs } from '../lib/boot-clock.ts';
import { runMarker } from '../process/child.ts';
import { GuardProcess } from './guard-process.ts';
import { leaseFileOf, readDeadline, writeDeadline } from './lease-file.ts';

/** Folder, and starter of processes that run for a slice; both are removed after the test. */
async function bench(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'pb-'));
  const children: ChildProcess[] = [];
  const start = (program: string, args: string[], more = {}) => {
    const child = spawn(program, args, { env: { ...process.env, ...more }, stdio: 'ignore' });
    children.push(child);
    return child;
  };
  context.after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  });
  const machine = start('sleep', ['600'], { [runMarker]: folder });
  const startGuard = (socket: string) => start(process.execPath, [join(import.meta.dirname, 'guard.ts'), folder, socket]);
  return { folder, machine, startGuard };
}

test('a guard of another host, where the slice is placed by now, does not keep the machines of this one', async (context) => {
  const { folder, machine, startGuard } = await bench(context);
  const ended = once(machine, 'exit');
  const guard = startGuard('/nonexistent');
  await writeDeadline(leaseFileOf(folder), bootMs() + 16_000, guard.pid ?? 0);
  // The guard has started, also on a busy machine, and has read the deadline that names it.
  await new Promise((done) => setTimeout(done, 12_000));
  await writeDeadline(leaseFileOf(folder), bootMs() + 600_000, 1);
  await waitFor(() => machine.signalCode !== null, { what: 'the end of the machine' });
  await ended;
  assert.equal(guard.exitCode, null);
});

test('a guard whose job ends ends machines and containers at once, and itself', async (context) => {
  const { folder, machine, startGuard } = await bench(context);
  const asked: string[] = [];
  const ended = once(machine, 'exit');
  // The guard asks at its first look, as its lease is over; this engine does not answer before the job ends.
  const isAsked = Promise.withResolvers<void>();
  const engine = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url?.split('?')[0]}`);
    if (asked.length === 1) return isAsked.resolve();
    response.end(method === 'GET' ? '[{"Id":"c1"}]' : '');
  });
  const socket = join(folder, 'engine.sock');
  engine.listen(socket);
  await once(engine, 'listening');
  context.after(() => engine.close());
  const guard = startGuard(socket);
  const exit = once(guard, 'exit');
  await writeDeadline(leaseFileOf(folder), bootMs() - 5_000, guard.pid ?? 0);
  await isAsked.promise;
  await writeDeadline(leaseFileOf(folder), bootMs() + 600_000, guard.pid ?? 0);
  guard.kill('SIGUSR2');
  assert.deepEqual((await exit)[0], 0);
  assert.ok(asked.includes('POST /containers/c1/kill'), asked.join('\n'));
  await ended;
});

test('deadlines that come together are stored, the latest last, by one guard', async (context) => {
  const { folder } = await bench(context);
  const guard = new GuardProcess(folder, '/nonexistent');
  context.after(() => guard.close());
  const latest = bootMs() + 600_000;
  await Promise.all([1, 0, 2, 3].map((before) => guard.setDeadline(latest - before)));
  const { deadline, guard: pid } = (await readDeadline(leaseFileOf(folder))) ?? {};
  assert.equal(deadline, latest);
  assert.ok(pid !== undefined && process.kill(pid, 0));
});
