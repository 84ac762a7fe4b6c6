/** Jobs of a slice, one of which counts, with lists of Slurm that come late. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { WatchedSlices } from '../../../../test/support/watched-slices.ts';
import { defaultSettings } from '../../../schema/settings.ts';
import { jobName, tagOf } from './slice-job.ts';
import type { SlurmClient, SlurmJob, SlurmNode } from './slurm-client.ts';
import { SlurmEngine } from './slurm-engine.ts';

const [id, owner] = [crypto.randomUUID(), crypto.randomUUID()];
const needs = { cpus: 1, memory: 100, disk: 100, kvm: false, images: [] };
const order = { id, owner, title: 'lab', needs, joinUrl: 'http://10.0.0.1:3080', token: 'secret' };

/** A queue, and an engine that looks at it when it is asked to. */
async function queue(t: { after(fn: () => Promise<void>): void }) {
  const jobs: SlurmJob[] = [];
  const state = { lists: 0, asked: async () => undefined as unknown };
  const client = {
    submit: async () => add('PENDING'),
    jobs: async () => {
      const found = [...jobs];
      await state.asked();
      state.lists += 1;
      return found;
    },
    nodes: async () => [] as SlurmNode[],
    cancel: async (job: number) => set(job, { state: 'CANCELLED' }),
    signal: async () => undefined,
  } satisfies Pick<SlurmClient, keyof SlurmClient>;
  const add = (word: string) => {
    const comment = `${tagOf(owner, id)} ${jobName(owner)}`;
    jobs.push({ id: jobs.length + 1, state: word, reason: '', host: null, endsAt: null, restarts: 0, comment });
  };
  const set = (job: number, change: Partial<SlurmJob>) => {
    const at = jobs.findIndex((one) => one.id === job);
    jobs.splice(at, 1, { ...(jobs[at] ?? assert.fail()), ...change });
  };
  const engine = new SlurmEngine(client, { ...defaultSettings().Slurm, command: ['patchbay'] }, 5);
  const watched = new WatchedSlices(engine, owner);
  t.after(async () => {
    state.asked = async () => undefined;
    await watched.end();
    await engine.close();
  });
  /** Lists that were asked for after the call have been seen. */
  const looked = async () => {
    const { lists } = state;
    await waitFor(() => state.lists >= lists + 3, { what: 'the next lists', everyMs: 5 });
  };
  return { engine, watched, jobs, state, add, set, looked };
}

test('the end of an older job is reported when a newer one has ended before it', async (t) => {
  const { engine, watched, jobs, add, set } = await queue(t);
  add('COMPLETING');
  add('CANCELLED');
  await watched.until(id, 'running');
  await engine.place(order);
  assert.equal(jobs.length, 2, 'processes of the older one may still run');
  set(1, { state: 'COMPLETED' });
  await watched.until(id, 'ended');
  await engine.place(order);
  await watched.until(id, 'pending');
  assert.equal(jobs.length, 3);
});

test('a job that ends with the same words as the one before it is reported', async (t) => {
  const { watched, add } = await queue(t);
  add('CANCELLED');
  await watched.until(id, 'ended');
  const before = watched.states.length;
  add('CANCELLED');
  await waitFor(() => watched.states.length > before, { what: 'its report' });
  assert.equal(watched.states.at(-1), 'ended');
});

test('a list that was asked for before a slice was placed says nothing of it', async (t) => {
  const { engine, watched, state, add, set, looked } = await queue(t);
  add('NODE_FAIL');
  await watched.until(id, 'lost');
  await looked();
  watched.states.length = 0;
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const asking = Promise.withResolvers<void>();
  set(1, { state: 'CANCELLED' });
  state.asked = () => {
    state.asked = async () => undefined;
    asking.resolve();
    return held;
  };
  await asking.promise;
  await engine.place(order);
  resolve();
  await watched.until(id, 'pending');
  assert.deepEqual(watched.states, ['pending']);
});
