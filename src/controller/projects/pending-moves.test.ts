/** What a server does with a move that it finds: computes that answer are recorded, as real ones do not die at will in each state. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import { UnsettledMoves } from '../live/nodes/unsettled-moves.ts';
import { beginMove, type PendingMove, settleBefore, settleMove, settleMoves } from './pending-moves.ts';

const move: Omit<PendingMove, 'file'> = { node_id: crypto.randomUUID(), node_type: 'qemu', from: 'old', to: 'new' };
const place = await mkdtemp(join(tmpdir(), 'pending-moves-'));
after(() => rm(place, { recursive: true }));
/** Of each test: what one left to be tried again must not meet the next one. */
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(place, 'project-'));
});
const [stay, leave, forget] = ['DELETE departures', 'DELETE arrivals', 'DELETE qemu'];

interface Found {
  /** Its compute refuses everything, and is connected. */
  refusing?: string | undefined;
  /** The node's compute; undefined: it was deleted. */
  readonly at?: string;
  readonly status?: string;
  readonly unreachable?: string;
  readonly computes?: readonly string[];
}

function project(found: Found) {
  const { at, status = 'suspended', unreachable, computes = ['old', 'new', 'third'] } = found;
  const calls: string[] = [];
  const notices: string[] = [];
  const attempts: string[] = [];
  const shown: (string | undefined)[] = [];
  const compute = (id: string) => ({
    transport: {
      state: { connected: id !== unreachable },
      async send(key: string) {
        attempts.push(id);
        if (id === unreachable) throw new Error(`${id} does not answer`);
        if (id === found.refusing) throw new Error(`${id} has no room`);
        calls.push(`${id} ${key.replace(/ .*\{project_id\}\/(\w+)\/.*/, ' $1')}`);
      },
    },
  });
  const node = {
    entry: { compute_id: at, name: 'VM' },
    read: async () => ({ status }),
    act: async (verb: string) => calls.push(verb),
  };
  const live = {
    folder,
    projectId: crypto.randomUUID(),
    nodes: {
      find: () => (at === undefined ? undefined : node),
      report: (answer: { status?: string }) => void shown.push(answer.status),
      locks: { run: (_id: string, fn: () => Promise<void>) => fn() },
    },
    computes: { find: (id: string) => (computes.includes(id) ? compute(id) : undefined) },
    linkRecovery: { rejoin: async () => void calls.push('rejoin') },
    announceTo: async () => undefined,
    unsettledMoves: new UnsettledMoves(),
    notify: (_action: string, { message }: { message: string }) => void notices.push(message),
  } as unknown as LiveProject;
  return { live, calls, notices, attempts, shown };
}

async function settled(found: Found, pending: typeof move = move) {
  const { live, calls, shown } = project(found);
  const isSettled = await settleMove(live, await beginMove(folder, pending));
  const [name] = await readdir(folder);
  assert.equal(name === undefined, isSettled);
  const left = name === undefined ? undefined : (JSON.parse(await readFile(join(folder, name), 'utf8')) as typeof move);
  if (name !== undefined) await rm(join(folder, name));
  return { calls, left, shown };
}

test('a machine continues at the compute that the log names, and is removed from the other one', async () => {
  assert.deepEqual((await settled({ at: 'new' })).calls, ['resume', `old ${leave}`, `old ${forget}`]);
  assert.deepEqual((await settled({ at: 'old' })).calls, [`old ${stay}`, 'rejoin', `new ${leave}`, `new ${forget}`]);
});

test('a machine that has ended at its new compute stays there, and is shown so: it may have run', async () => {
  const { calls, shown } = await settled({ at: 'new', status: 'stopped' });
  assert.deepEqual([calls, shown], [[`old ${leave}`, `old ${forget}`], ['stopped']]);
});

test('a machine that was resumed is not resumed again, when its old compute is back', async () => {
  const { calls, left } = await settled({ at: 'new', unreachable: 'old' });
  assert.deepEqual(calls, ['resume']);
  assert.deepEqual(left, { ...move, continued: true });
  assert.deepEqual((await settled({ at: 'new' }, left)).calls, [`old ${leave}`, `old ${forget}`]);
});

test('nothing runs at the old compute while the new one is not registered', async () => {
  const { calls, left } = await settled({ at: 'new', computes: ['old'] });
  assert.deepEqual([calls, left], [[], move]);
});

test('a node that was deleted, or is on a third compute, is left at neither', async () => {
  const everywhere = [`old ${leave}`, `old ${forget}`, `new ${leave}`, `new ${forget}`];
  assert.deepEqual((await settled({})).calls, everywhere);
  assert.deepEqual((await settled({ at: 'third' })).calls, everywhere);
});

test('a machine that moves on, while the compute of an earlier move is away, is removed from each when it is back', async () => {
  const at = 'third';
  await beginMove(folder, { ...move, continued: true });
  await beginMove(folder, { ...move, from: 'new', to: at });
  const away = project({ at, unreachable: 'old' });
  await settleMoves(away.live);
  // Whenever another compute is back.
  await settleMoves(away.live);
  assert.equal(away.notices.filter((message) => message.includes('waits for its computes')).length, 1);
  assert.deepEqual(away.calls, ['resume', `new ${leave}`, `new ${forget}`]);
  assert.equal((await readdir(folder)).length, 1, 'the earlier one is pending still');
  const back = project({ at });
  await settleMoves(back.live);
  assert.deepEqual(new Set(back.calls), new Set([`old ${leave}`, `old ${forget}`, `new ${leave}`, `new ${forget}`]));
  assert.deepEqual(await readdir(folder), []);
});

test('a move that a connected compute refuses is tried again, less and less often, and its reason shown once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const refused: Found = { at: 'new', refusing: 'old' };
  const { live, calls, notices, attempts } = project(refused);
  await beginMove(folder, { ...move, continued: true });
  await settleMoves(live);
  for (const waitMs of [1_000, 2_000]) {
    const before = attempts.length;
    t.mock.timers.tick(waitMs - 1);
    await live.unsettledMoves.attempt;
    assert.equal(attempts.length, before);
    t.mock.timers.tick(1);
    await live.unsettledMoves.attempt;
    assert.equal(attempts.length, before + 1);
  }
  assert.deepEqual([calls, notices.length], [[], 1]);
  assert.match(String(notices), /move of node VM is tried again.*: old has no room/);
  refused.refusing = undefined;
  t.mock.timers.tick(4_000);
  await live.unsettledMoves.attempt;
  assert.deepEqual([calls, await readdir(folder)], [[`old ${leave}`, `old ${forget}`], []]);
  live.unsettledMoves.end();
});

test('a machine moves to a compute again only when nothing of an earlier move is left there', async () => {
  await beginMove(folder, { ...move, continued: true });
  const before = async (found: Found, to: string) => {
    const { live, calls } = project(found);
    const node = live.nodes.find(move.node_id);
    const compute = live.computes.find(to) as RegisteredCompute;
    assert.ok(node);
    await settleBefore(live, node, { ...compute, id: to, record: { name: to } } as unknown as RegisteredCompute);
    return calls;
  };
  const unreachable = { at: 'third', unreachable: 'old' };
  await assert.rejects(before(unreachable, 'old'), /left its machine on old: old does not answer/);
  assert.deepEqual(await before(unreachable, 'new'), [`new ${leave}`, `new ${forget}`]);
  assert.deepEqual(await before({ at: 'new', unreachable: 'old' }, 'third'), []);
  assert.equal((await readdir(folder)).length, 1);
  await before({ at: 'third' }, 'old');
  assert.deepEqual(await readdir(folder), []);
});
