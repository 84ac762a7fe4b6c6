import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../../test/support/wait-for.ts';
import { bootMs } from '../lib/boot-clock.ts';
import { isRunningHere } from './engine-word.ts';
import { LeaseKeeper } from './lease-keeper.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };
/** A process that waits for a processor for a lease would pause the machines, as it should. */
const seconds = 2;

/** A slice whose controller does not answer. */
async function withoutController(t: TestContext, { asks_engine, hasPlace }: { asks_engine: boolean; hasPlace: () => boolean }) {
  const done: string[] = [];
  const machines = {
    pause: async () => void done.push('pause'),
    resume: async () => void done.push('resume'),
    end: async () => void done.push('end'),
    setEpoch: () => undefined,
  };
  let deadline = 0;
  const keeper = new LeaseKeeper(
    {
      ...{ machines, log, isRemoval: () => false, onRemoved: () => undefined },
      renew: () => Promise.reject(new Error('it is away')),
      setDeadline: async (time) => {
        deadline = time;
      },
      askEngine: async () => hasPlace(),
    },
    { compute_id: crypto.randomUUID(), epoch: 1, seconds, fenced: false, asks_engine },
    bootMs(),
  );
  await keeper.begin();
  t.after(() => keeper.close());
  return { done, deadline: () => deadline };
}

test('a slice keeps its machines while its engine says that it has its place, and ends them by its lease afterwards', async (t) => {
  let has = true;
  const slice = await withoutController(t, { asks_engine: true, hasPlace: () => has });
  await pause(4_000 * seconds);
  assert.deepEqual(slice.done, []);
  has = false;
  const last = slice.deadline();
  await waitFor(() => slice.done.includes('end'), { what: 'the end', everyMs: 20 });
  assert.deepEqual(slice.done, ['pause', 'end']);
  assert.ok(bootMs() >= last, 'two leases after the last yes');
});

test('a slice of a controller that does not wait for engines keeps to its lease', async (t) => {
  const slice = await withoutController(t, { asks_engine: false, hasPlace: () => true });
  await waitFor(() => slice.done.includes('end'), { what: 'the end', everyMs: 20 });
});

test('a job is the slice’s own while it runs on its node and was not put back into the queue', () => {
  const job = (state: string, restarts = 0, node = 'n1') =>
    `JobId=7 JobName=x UserId=u(1) JobState=${state} Reason=None Restarts=${restarts} ExitCode=0:0 BatchHost=${node} Comment=a=b`;
  assert.equal(isRunningHere(job('RUNNING'), 'n1'), true);
  assert.equal(isRunningHere(job('SUSPENDED'), 'n1'), true);
  for (const other of [job('COMPLETING'), job('CANCELLED'), job('PENDING'), job('RUNNING', 1), job('RUNNING', 0, 'n2'), ''])
    assert.equal(isRunningHere(other, 'n1'), false, other);
});
