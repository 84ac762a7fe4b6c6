import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { Slices } from './slices.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };
const leaseMs = 1_000;

const address = { protocol: 'http' as const, host: '127.0.0.1', port: 1 };

async function openSlices(t: TestContext): Promise<Slices> {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'pb-slices-'));
  const known = new Map<string, RegisteredCompute>();
  const computes = {
    find: (id: string) => known.get(id),
    get: (id: string) => known.get(id),
    all: () => [],
    update: async (id: string) => known.get(id),
    create: async ({ compute_id: id = '' }: { compute_id?: string }) => {
      const compute = { id, record: address, fence: () => undefined } as unknown as RegisteredCompute;
      known.set(id, compute);
      return compute;
    },
  } as Partial<Computes> as Computes;
  const slices = await Slices.open({ stateDirectory, computes, log, leaseMs, onEnding: () => false, onFenced: () => {} });
  t.after(async () => {
    await slices.close();
    await rm(stateDirectory, { recursive: true });
  });
  return slices;
}

test('a controller that was stopped for long waits for renewals before it declares a slice lost', async (t) => {
  const slices = await openSlices(t);
  const { token, compute_id: id } = await slices.invite({});
  await slices.join({ token, secret: 'ab'.repeat(32), address });
  // The process is stopped.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3.2 * leaseMs);
  await pause(leaseMs / 5);
  assert.equal(slices.find(id)?.state, 'joined');
  await waitFor(() => slices.find(id)?.state === 'lost', { what: 'a slice that is lost' });
});

const newSecret = () => randomBytes(32).toString('hex');
const refused = (error: unknown) => {
  assert.equal((error as { code?: string }).code, 'slice_token_refused');
  return undefined;
};

test('a token admits one of two processes, in a race of 1,000 pairs, and no other when that one has left', async (t) => {
  const slices = await openSlices(t);
  const race = async (at: number): Promise<number> => {
    const { token, compute_id: id } = await slices.invite({});
    const admitted = new Set<string>();
    const join = async (secret: string) => {
      const lease = await slices.join({ token, secret, address }).catch(refused);
      if (!lease) return;
      admitted.add(secret);
      // The slice ends in every fourth race while the other asks again, so that its compute is free for another token.
      if (at % 4 === 0) await slices.renew(id, { secret, epoch: lease.epoch, address, leaving: true });
    };
    const [one, other] = [newSecret(), newSecret()];
    await Promise.all([one, other].map(join));
    for (const secret of [one, other]) await join(secret);
    return admitted.size;
  };
  const counts = await Promise.all(Array.from({ length: 1_000 }, (_, at) => race(at)));
  assert.deepEqual([...new Set(counts)], [1]);
  assert.equal(counts.length, 1_000);
});

test('the slice that has used a token joins with it again; for another a new token is needed', async (t) => {
  const slices = await openSlices(t);
  const { token, compute_id: id } = await slices.invite({});
  const [first, second] = [newSecret(), newSecret()];
  const { epoch } = await slices.join({ token, secret: first, address });
  assert.equal((await slices.join({ token, secret: first, address })).epoch, epoch);
  await slices.renew(id, { secret: first, epoch, address, leaving: true });
  assert.equal(await slices.join({ token, secret: second, address }).catch(refused), undefined);
  const again = await slices.join({ token, secret: first, address });
  await slices.renew(id, { secret: first, epoch: again.epoch, address, leaving: true });
  const next = await slices.invite({ compute_id: id });
  assert.equal((await slices.join({ token: next.token, secret: second, address })).compute_id, id);
  assert.equal(await slices.join({ token: next.token, secret: first, address }).catch(refused), undefined);
});
