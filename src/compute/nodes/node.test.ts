import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { isFault } from '../../api/faults.ts';
import type { Driver, Emulator, Ending, NodeView } from '../../emulators/driver.ts';
import { defaultSettings } from '../../schema/settings.ts';
import type { ComputeNotice, Context, ProjectView } from '../context.ts';
import type { EndRecord, KnownNode, RunRecord } from '../store.ts';
import { LeasedMachines } from './leased-machines.ts';
import { ComputeNode } from './node.ts';

async function startedNode(lease: Partial<Context['lease']>) {
  const shown: unknown[] = [];
  const records: unknown[] = [];
  const done = async () => undefined;
  const context = {
    settings: { ...defaultSettings(), runtimeDirectory: tmpdir() },
    lease: {
      ...{ isSlice: true, isOver: false, isEnding: false, deadline: Number.POSITIVE_INFINITY, begun: Promise.withResolvers() },
      epoch: 1,
      ...lease,
    },
    store: {
      setNode: done,
      setRun: async (_id: string, { interrupted }: RunRecord) => void records.push({ interrupted: interrupted === true }),
      endRun: async (_id: string, { ending }: EndRecord) => void records.push(ending),
    },
    wiring: { ofNode: () => [], up: async () => [], down: done, connected: done, hold: done, sync: async () => [] },
    emit: ({ event: { status, interrupted = false } }: ComputeNotice) => void shown.push([status, interrupted]),
    log: () => undefined,
  } as unknown as Context;
  let end = (_how: Ending['how'] = 'exited'): void => undefined;
  const starting = { count: 0, isDelayedBy: Promise.resolve() };
  const changes: string[] = [];
  const start = () => {
    const { promise: ended, resolve } = Promise.withResolvers<Ending>();
    end = (how = 'exited') => resolve({ how, reason: 'SIGTERM' });
    return {
      ...{ ended, state: 'started', record: {}, commandLine: '', onState: () => undefined, console: () => undefined },
      stop: async () => end(),
      suspend: async () => void changes.push('paused'),
      resume: async () => void changes.push('resumed'),
    } as unknown as Emulator;
  };
  const driver = {
    kind: { inFabric: true, folder: '', can: { suspend: true }, consoleTypes: [] },
    start: async (view: NodeView) => {
      starting.count += 1;
      await starting.isDelayedBy;
      view.requireLease();
      return start();
    },
    present: () => ({}),
  } as unknown as Driver;
  const record = { project_id: '', node_id: '', name: 'PC', console: null, console_type: 'none', properties: {} };
  const known = { record, commandLine: '' } as unknown as KnownNode;
  const node = new ComputeNode(context, { path: tmpdir(), record: {} } as unknown as ProjectView, driver, known);
  await node.start();
  shown.length = 0;
  records.length = 0;
  const machines = new LeasedMachines(context, () => [node]);
  return { node, end: (how?: Ending['how']) => end(how), shown, records, machines, starting, changes, lease: context.lease };
}

test('a machine that ends by itself is not to run again', async () => {
  const { end, shown, records } = await startedNode({});
  end();
  await waitFor(() => shown.length > 0, { what: 'its end' });
  assert.deepEqual([shown, records], [[['stopped', false]], ['guest']]);
});

test('its start and how it ended stay known, until it is started again', async () => {
  const { node, end } = await startedNode({ isSlice: false });
  const facts = () => {
    const { generation, ending } = node.runs.presentRun();
    return [generation, ending];
  };
  assert.deepEqual(facts(), [undefined, undefined]);
  await node.start(undefined, 7);
  assert.deepEqual(facts(), [7, undefined], 'one that runs takes the number on');
  await node.start();
  assert.deepEqual(facts(), [7, undefined], 'a client without a number does not take it away');
  end('failed');
  await waitFor(() => node.status === 'stopped', { what: 'its end' });
  assert.deepEqual(facts(), [7, 'failed']);
  await node.start(undefined, 8);
  await node.stop();
  assert.deepEqual(facts(), [8, 'asked']);
  await node.start(undefined, 9);
  await node.halt();
  assert.deepEqual(facts(), [9, 'server']);
});

test('a machine that ends with its slice, by the signal or the guard, is to run again, which is on disk', async () => {
  const machine = await startedNode({});
  machine.machines.ending();
  const late = await startedNode({});
  late.machines.setDeadline(0);
  const first = await startedNode({});
  for (const { end, shown, records, machines } of [machine, late, first]) {
    end();
    // A server that has much to do hears of the end first, and then the signal.
    if (machines === first.machines) setImmediate(() => machines.ending());
    await waitFor(() => shown.length > 0, { what: 'its end' });
    assert.deepEqual([shown, records], [[['stopped', true]], [{ interrupted: true }]]);
  }
});

test('a machine that ends with another compute than a slice is not to run again', async () => {
  const { node, shown, records } = await startedNode({ isSlice: false, isEnding: true });
  await node.halt();
  assert.deepEqual([shown, records], [[['stopped', false]], ['server']]);
});

test('a start on a slice that was just admitted waits for its first lease, and is refused when a lease is over', async () => {
  const { node, machines, lease, starting } = await startedNode({});
  await node.stop();
  lease.deadline = 0;
  const started = node.start();
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  assert.equal(starting.count, 1);
  machines.setDeadline(Number.POSITIVE_INFINITY);
  await started;
  assert.equal(starting.count, 2);
  await node.stop();
  lease.deadline = 0;
  await assert.rejects(node.start(), /has lost its controller/);
});

test('a start that takes longer than the lease runs nothing, also when the slice has its next lease by then', async () => {
  for (const hasNextLease of [false, true]) {
    const { node, machines, starting } = await startedNode({});
    await node.stop();
    const prepared = Promise.withResolvers<void>();
    starting.isDelayedBy = prepared.promise;
    const refused = assert.rejects(node.start(), (error) => isFault(error, 'lease_expired'));
    await waitFor(() => starting.count === 2, { what: 'the start' });
    const ended = machines.end();
    if (!hasNextLease) machines.setDeadline(0);
    else {
      machines.setEpoch(2);
      await machines.resume();
    }
    prepared.resolve();
    await Promise.all([refused, ended]);
    assert.equal(node.status, 'stopped');
  }
});

test('what the lease has ended is to run again until its user stops it, or it runs', async () => {
  const { node, shown, records, machines } = await startedNode({});
  await machines.end();
  assert.deepEqual([shown, records], [[['stopped', true]], [{ interrupted: true }]]);
  await assert.rejects(node.start(), /has lost its controller/);
  // The server ends meanwhile.
  await node.halt();
  assert.equal(node.present().interrupted, true);
  await node.stop();
  assert.equal(node.present().interrupted, undefined);
  assert.deepEqual(records, [{ interrupted: true }, 'asked']);
  await machines.resume();
  await node.start();
  assert.equal(node.present().interrupted, undefined);
});

test('machines pause once while the lease is over, also one that was being started', async () => {
  const { node, machines, starting, changes } = await startedNode({});
  await machines.pause();
  await machines.resume();
  assert.deepEqual(changes, ['paused', 'resumed']);
  await node.stop();
  const { promise, resolve } = Promise.withResolvers<void>();
  starting.isDelayedBy = promise;
  const started = node.start();
  await waitFor(() => starting.count === 2, { what: 'its start' });
  await machines.pause();
  assert.equal(changes.length, 2);
  resolve();
  await started;
  await waitFor(() => changes.length > 2, { what: 'its pause' });
  await machines.resume();
  assert.deepEqual(changes, ['paused', 'resumed', 'paused', 'resumed']);
});
