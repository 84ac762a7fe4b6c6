/** Moves that a server finds when it starts: computes that answer are recorded, as real ones do not die at will in each state. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { LiveProject } from '../live/live-project.ts';
import type { OpenNode } from '../live/nodes/open-node.ts';
import { notWanted, type PendingMove } from '../model/wanted.ts';
import { clearPlace, settleMove } from './pending-moves.ts';

const move: PendingMove = { from: 'old', to: 'new' };
const [stay, leave, forget] = ['DELETE departures', 'DELETE arrivals', 'DELETE qemu'];

interface Found {
  /** The node's compute. */
  readonly at: string;
  readonly move?: PendingMove;
  readonly status?: string;
  /** Default: that it runs. */
  readonly wanted?: OpenNode['wanted'];
  /** Compute that refuses everything, and is connected. */
  readonly refusing?: string;
  readonly away?: string;
  readonly computes?: readonly string[];
}

const isWanted: OpenNode['wanted'] = { run: 'running', generation: 7, by: 'client' };

function project({
  at,
  status = 'suspended',
  wanted = isWanted,
  refusing,
  away,
  computes = ['old', 'new', 'third'],
  ...found
}: Found) {
  const calls: string[] = [];
  const shown: (string | undefined)[] = [];
  const compute = (id: string) => ({
    ...{ id, hasLiveMoves: true, hasNodeRuns: id === 'new', record: { name: id } },
    transport: {
      state: { connected: id !== away },
      async send(key: string) {
        if (id === refusing || id === away) throw new Error(`${id} does not answer`);
        calls.push(`${id} ${key.replace(/ .*\{project_id\}\/(\w+)\/.*/, ' $1')}`);
      },
    },
  });
  const find = (id: string) => (computes.includes(id) ? (compute(id) as unknown as RegisteredCompute) : undefined);
  const node = {
    wanted: { ...wanted, move: found.move ?? move },
    entry: { compute_id: at, node_id: 'id', node_type: 'qemu', name: 'VM' },
    read: async () => ({ status }),
    route: 'node',
    transport: { call: async (key: string) => calls.push(key.replace('POST node/', '')) },
    get compute() {
      return find(at);
    },
    requireCompute: () => find(at) ?? assert.fail('it is not registered'),
  } as unknown as OpenNode;
  const live = {
    projectId: crypto.randomUUID(),
    nodes: { report: (answer: { status?: string }) => void shown.push(answer.status) },
    changes: { commitAll: async (commits: readonly { apply: () => void }[]) => commits.map(({ apply }) => apply()) },
    computes: { find },
    linkRecovery: { rejoin: async () => void calls.push('rejoin') },
    announceTo: async () => undefined,
  } as unknown as LiveProject;
  return { live, node, calls, shown, find };
}

async function settled(found: Found) {
  const { live, node, calls, shown } = project(found);
  const error = await settleMove(live, node).then(
    () => undefined,
    ({ message }: Error) => message,
  );
  return { calls, shown, left: node.wanted.move, error };
}

test('a machine continues at the compute that the log names, and is removed from the other one', async () => {
  const done = { shown: ['suspended'], left: undefined, error: undefined };
  assert.deepEqual(await settled({ at: 'new' }), { ...done, calls: ['start', `old ${leave}`, `old ${forget}`] });
  const stays = [`old ${stay}`, 'rejoin', `new ${leave}`, `new ${forget}`];
  assert.deepEqual(await settled({ at: 'old' }), { ...done, shown: [], calls: stays });
});

test('a machine that has ended at its new compute stays there, and is shown so: it may have run', async () => {
  const { calls, shown } = await settled({ at: 'new', status: 'stopped' });
  assert.deepEqual([calls, shown], [[`old ${leave}`, `old ${forget}`], ['stopped']]);
});

test('a machine that was stopped while its move was cut off is stopped; one of which nothing is known is resumed', async () => {
  for (const status of ['suspended', 'started'])
    assert.equal((await settled({ at: 'new', status, wanted: { ...isWanted, run: 'stopped' } })).calls[0], 'stop');
  assert.equal((await settled({ at: 'new', wanted: notWanted })).calls[0], 'resume');
});

test('a machine that was resumed is not resumed again, when its old compute has refused to remove it', async () => {
  const { calls, left, error } = await settled({ at: 'new', refusing: 'old' });
  assert.deepEqual([calls, left, error], [['start'], { ...move, continued: true }, 'old does not answer']);
  assert.deepEqual((await settled({ at: 'new', ...(left && { move: left }) })).calls, [`old ${leave}`, `old ${forget}`]);
});

test('a move is at its end while a compute is away where the machine does not run: it is removed when that is back', async () => {
  assert.deepEqual(
    [await settled({ at: 'new', away: 'old' })].map(({ calls, left }) => [calls, left]),
    [[['start'], undefined]],
  );
  const { calls, left } = await settled({ at: 'old', computes: ['old'] });
  assert.deepEqual([calls, left], [[`old ${stay}`, 'rejoin'], undefined]);
});

test('a node that is on a third compute is left at neither', async () => {
  const everywhere = [`old ${leave}`, `old ${forget}`, `new ${leave}`, `new ${forget}`];
  assert.deepEqual((await settled({ at: 'third' })).calls, everywhere);
});

test('a machine moves to a compute only when nothing of an earlier move is left there', async () => {
  const before = async (found: Found, to: string) => {
    const { live, node, calls, find } = project(found);
    await clearPlace(live, node, find(to) as RegisteredCompute);
    return [calls, node.wanted.move];
  };
  await assert.rejects(before({ at: 'new', refusing: 'third' }, 'third'), /left its machine on third: third does not answer/);
  await assert.rejects(before({ at: 'new', refusing: 'old' }, 'third'), /earlier move .*: old does not answer/);
  const continued = { ...move, continued: true } as const;
  const calls = [`old ${leave}`, `old ${forget}`, `third ${leave}`, `third ${forget}`];
  assert.deepEqual(await before({ at: 'new', move: continued }, 'third'), [calls, undefined]);
});
