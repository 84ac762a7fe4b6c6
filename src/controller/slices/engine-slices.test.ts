import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { isFault } from '../../api/faults.ts';
import type { Computes } from '../computes/computes.ts';
import { type Engine, EngineError, type SliceListener, type SliceOrder } from '../engines/engine.ts';
import { EngineSlices } from './engine-slices.ts';
import { hashOf } from './slice-entry.ts';
import { Slices } from './slices.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };

test('a slice is placed once while it is ordered, and again, after a pause, when it ends before it joins', async (t) => {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'pb-engine-'));
  const computes = { find: () => undefined, all: () => [] } as Partial<Computes> as Computes;
  const slices = await Slices.open({
    stateDirectory,
    computes,
    log,
    leaseMs: 60_000,
    onEnding: () => false,
    onFenced: () => undefined,
  });
  const placed: { token: string; at: number }[] = [];
  const released: { id: string; keepDisks: boolean }[] = [];
  let listener: SliceListener | undefined;
  const engine: Pick<Engine, 'limits' | 'name' | 'place' | 'release' | 'watch'> = {
    name: 'test',
    limits: async () => ({ slices: null, walltime: null, grace: 1, disks: 'anywhere', remarks: [] }),
    async place({ id, token }: SliceOrder) {
      placed.push({ token, at: performance.now() });
      // The engine's list was made before.
      if (placed.length === 1) listener?.onList([]);
      if (placed.length === 2) listener?.onChange({ id, reason: null, host: null, endsAt: null, state: 'ended' });
      await new Promise(setImmediate);
      // A right was taken from it for a moment.
      if (placed.length === 3) throw new EngineError('Not permitted', { isFinal: true });
    },
    async release(id, options) {
      released.push({ id, ...options });
      if (!options.keepDisks) throw new EngineError('It does not answer');
    },
    watch: (_owner, given, signal) => {
      listener = given;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  const engines = new Map([['test', engine as Engine]]);
  const engineSlices = await EngineSlices.open({ stateDirectory, slices, engines, log });
  t.after(async () => {
    await engineSlices.close();
    await slices.close();
    await rm(stateDirectory, { recursive: true });
  });
  engineSlices.begin('http://127.0.0.1:1');
  const id = await engineSlices.order({});
  // A second placement would have begun with another token by now.
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  assert.equal(slices.find(id)?.invitation?.hash, hashOf(placed[0]?.token ?? ''));
  const report = { id, reason: null, host: null, endsAt: null };
  listener?.onChange({ ...report, state: 'lost' });
  // The slice's process ends while it is placed for the second time, which is reported once.
  await waitFor(() => placed.length === 3, { what: 'a slice that is placed again after it was lost, and after it ended' });
  assert.equal(new Set(placed.map(({ token }) => token)).size, placed.length);
  const [first, second, third] = placed.map(({ at }) => at);
  assert.ok(Number(second) - Number(first) > 900 && Number(third) - Number(second) > 1900);
  await waitFor(() => placed.length === 4, { what: 'another attempt after its engine has refused it', everyMs: 20 });
  // The slice is placed again for as long as it runs nowhere, but not while its engine has suspended it.
  const before = released.length;
  listener?.onChange({ ...report, state: 'suspended' });
  engineSlices.onFenced(id);
  assert.equal(released.length, before);
  // A slice deleted while its engine was away is ended with its data when the engine has it, and forgotten when it has not.
  await slices.markDeleted(id);
  assert.deepEqual([slices.find(id), slices.all()], [undefined, []]);
  listener?.onChange({ ...report, state: 'running' });
  assert.deepEqual(released.at(-1), { id, keepDisks: false });
  const tries = released.length;
  await waitFor(() => released.length > tries, { what: 'another release, as the first one has failed', everyMs: 20 });
  listener?.onList([]);
  await waitFor(() => slices.findStored(id)?.state !== 'deleted', { what: 'a deleted slice that is forgotten' });
  // A slice whose record was lost keeps its data.
  const unknown = crypto.randomUUID();
  listener?.onChange({ ...report, id: unknown, state: 'running' });
  assert.deepEqual(
    released.filter((one) => one.id === unknown),
    [{ id: unknown, keepDisks: true }],
  );
});

test('a slice that its engine does not list is placed again when its lease is over, not before', async (t) => {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'pb-engine-'));
  const compute = { id: '', epoch: 0, record: {}, fence: () => undefined };
  let isKnown = false;
  const computes = {
    find: () => (isKnown ? compute : undefined),
    get: () => compute,
    all: () => [],
    create: async () => {
      isKnown = true;
    },
    update: async () => undefined,
  } as unknown as Computes;
  let engineSlices: EngineSlices | undefined;
  const slices = await Slices.open({
    ...{ stateDirectory, computes, log, leaseMs: 500, onEnding: () => false },
    onFenced: () => engineSlices?.onFenced(id),
  });
  const tokens: string[] = [];
  let listener: SliceListener | undefined;
  const engine: Pick<Engine, 'limits' | 'name' | 'place' | 'release' | 'watch'> = {
    name: 'test',
    limits: async () => ({ slices: null, walltime: null, grace: 1, disks: 'anywhere', remarks: [] }),
    place: async ({ token }) => void tokens.push(token),
    release: async () => undefined,
    watch: (_owner, given, signal) => {
      listener = given;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  engineSlices = await EngineSlices.open({ stateDirectory, slices, engines: new Map([['test', engine as Engine]]), log });
  t.after(async () => {
    await engineSlices?.close();
    await slices.close();
    await rm(stateDirectory, { recursive: true });
  });
  engineSlices.begin('http://127.0.0.1:1');
  const id = await engineSlices.order({});
  compute.id = id;
  const address = { protocol: 'http' as const, host: '127.0.0.1', port: 1 };
  const [first, second] = ['ab'.repeat(32), 'cd'.repeat(32)];
  await slices.join({ token: tokens[0] ?? '', secret: first, address });
  listener?.onChange({ id, state: 'running', reason: null, host: 'n1', endsAt: null });
  listener?.onList([]);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  assert.deepEqual([slices.find(id)?.state, tokens.length, engineSlices.reportOf(id)], ['joined', 1, undefined]);
  await waitFor(() => tokens.length === 2, { what: 'a slice that is placed again', everyMs: 20 });
  assert.equal(slices.find(id)?.state, 'lost');
  // The process before it returns.
  const fenced = await slices.renew(id, { secret: first, epoch: 1, address });
  assert.deepEqual([fenced.fenced, fenced.epoch], [true, 2]);
  const isReplaced = (error: unknown) => isFault(error, 'slice_refused');
  await assert.rejects(slices.renew(id, { secret: first, epoch: 2, address }), isReplaced);
  await slices.join({ token: tokens[1] ?? '', secret: second, address });
  assert.deepEqual([slices.find(id)?.state, slices.find(id)?.epoch], ['joined', 3]);
  assert.equal(await slices.inviteNext(id, 60), undefined, 'it has joined');
});
