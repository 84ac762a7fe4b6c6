import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { Slices } from './slices.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };
const leaseMs = 1_000;

test('a controller that was stopped for long waits for renewals before it declares a slice lost', async (t) => {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'pb-slices-'));
  let compute: RegisteredCompute | undefined;
  const computes = {
    find: () => compute,
    get: () => compute,
    all: () => [],
    create: async () => {
      compute = { fence: () => undefined } as Partial<RegisteredCompute> as RegisteredCompute;
      return compute;
    },
  } as Partial<Computes> as Computes;
  const slices = await Slices.open({ stateDirectory, computes, log, leaseMs, onEnding: async () => false, onFenced: () => {} });
  t.after(async () => {
    await slices.close();
    await rm(stateDirectory, { recursive: true });
  });
  const { token, compute_id: id } = await slices.invite({});
  const address = { protocol: 'http' as const, host: '127.0.0.1', port: 1 };
  await slices.join({ token, secret: 'ab'.repeat(32), address });
  // As a process that is stopped.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3.2 * leaseMs);
  await pause(leaseMs / 5);
  assert.equal(slices.find(id)?.state, 'joined');
  await waitFor(() => slices.find(id)?.state === 'lost', { what: 'a slice that is lost' });
});
