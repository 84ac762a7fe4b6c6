import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { Driver, Emulator, Ending } from '../../emulators/driver.ts';
import { defaultSettings } from '../../schema/settings.ts';
import type { ComputeNotice, Context, ProjectView } from '../context.ts';
import type { KnownNode } from '../store.ts';
import { LeasedMachines } from './leased-machines.ts';
import { ComputeNode } from './node.ts';

test('a machine that ends together with its server is reported when the controller has noted what runs', async () => {
  const statuses: unknown[] = [];
  const done = async () => undefined;
  const context = {
    settings: { ...defaultSettings(), runtimeDirectory: tmpdir() },
    lease: { isOver: false },
    store: { setNode: done, setRun: done, endRun: done },
    wiring: { ofNode: () => [], up: async () => [], down: done, connected: done },
    emit: ({ event }: ComputeNotice) => void statuses.push(event.status),
    log: () => undefined,
  } as unknown as Context;
  const { promise: ended, resolve: end } = Promise.withResolvers<Ending>();
  const emulator = { ended, state: 'started', record: {}, commandLine: '', onState: () => undefined, console: () => undefined };
  const driver = {
    kind: { inFabric: true, folder: '', can: {}, consoleTypes: [] },
    start: async () => emulator as unknown as Emulator,
    present: () => ({}),
  } as unknown as Driver;
  const record = { project_id: '', node_id: '', name: 'PC', console: null, console_type: 'none', properties: {} };
  const known = { record, commandLine: '' } as unknown as KnownNode;
  const node = new ComputeNode(context, { path: tmpdir() } as unknown as ProjectView, driver, known);
  await node.start();
  const noted = Promise.withResolvers<void>();
  new LeasedMachines(context, () => [node]).reportEndsAfter(noted.promise);
  end({ how: 'ended', reason: 'SIGTERM' } as unknown as Ending);
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  assert.deepEqual(statuses, ['started']);
  noted.resolve();
  await waitFor(() => statuses.length === 2, { what: 'its end' });
  assert.deepEqual(statuses, ['started', 'stopped']);
});

test('a node that its user stops after the lease of its compute was over is not started when it is renewed', async () => {
  const lease: Context['lease'] = { isOver: false };
  const started: string[] = [];
  const wiring = { hold: async () => undefined, sync: async () => [] };
  const context = { lease, wiring, log: () => undefined } as unknown as Context;
  const node = (id: string) => ({
    ...{ id, status: 'started', driver: { kind: {} }, emulator: undefined },
    stop: async () => undefined,
    start: async () => void started.push(id),
  });
  const nodes = ['wanted', 'stopped'].map(node) as unknown as ComputeNode[];
  const machines = new LeasedMachines(context, () => nodes);
  await machines.end();
  await ComputeNode.prototype.stop
    .call(Object.assign(Object.create({ exclusively: async () => undefined }), { id: 'stopped', context }))
    .catch(() => undefined);
  await machines.resume();
  await waitFor(() => started.length > 0, { what: 'the start of the other one' });
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  assert.deepEqual(started, ['wanted']);
});
