/** A slice on a host whose processors are full: what runs beside it takes its time, and does not end its lease. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { after, test } from 'node:test';
import { missingPrograms } from '../support/missing-programs.ts';
import { findSlice, startSlice, type TestSlice } from '../support/slices.ts';
import { withServer } from '../support/with-server.ts';

const leaseSeconds = 5;
/** Number of busy programs, which share one processor with the slice. */
const busyPrograms = 48;
const busyMs = 2 * leaseSeconds * 1000;

const skip = await missingPrograms(['taskset', 'util-linux']);
const { server, client } = await withServer({ config: { Cluster: { lease_seconds: leaseSeconds } } });
const busy: ChildProcess[] = [];
let slice: TestSlice | undefined;
after(async () => {
  for (const program of busy) program.kill('SIGKILL');
  await slice?.server.stop();
});

test('a slice keeps its lease while the processor that it runs on is full', { skip, timeout: 180_000 }, async () => {
  slice = await startSlice(client, server.url);
  const onFirst = ['--all-tasks', '--cpu-list', '--pid', '0', String(slice.server.pid)];
  execFileSync('taskset', onFirst, { stdio: 'ignore' });
  for (let count = 0; count < busyPrograms; count++)
    busy.push(spawn('taskset', ['--cpu-list', '0', 'sh', '-c', 'while :; do :; done'], { stdio: 'ignore' }));
  await new Promise((resolve) => setTimeout(resolve, busyMs));
  for (const program of busy) program.kill('SIGKILL');
  const { state, epoch } = (await findSlice(client, slice.id)) ?? {};
  assert.deepEqual({ state, epoch }, { state: 'joined', epoch: 1 });
  assert.doesNotMatch(slice.server.log(), /machines pause|machine is ended/);
});
