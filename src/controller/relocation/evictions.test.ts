import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { EventStream } from '../../lib/event-stream.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { EngineSlices } from '../slices/engine-slices.ts';
import type { Slices } from '../slices/slices.ts';
import { Evictions } from './evictions.ts';
import type { Eviction } from './relocation.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };

/** One slice whose host is drained, or that is asked to end. */
function bench(graceMs: number | undefined) {
  const compute = { id: 'slice', epoch: 3, record: { name: 'slice' } } as unknown as RegisteredCompute;
  const state = { isDraining: false, hasRoom: false, isJoined: true };
  const seen = { vacated: [] as boolean[], notes: [] as (string | null)[], evictions: [] as Eviction[], endings: [] as string[] };
  const moves: PromiseWithResolvers<number>[] = [];
  const drains = new EventStream<string>();
  const engineSlices: Partial<EngineSlices> = {
    drains,
    isDraining: () => state.isDraining,
    graceMs: () => graceMs,
    reportOf: (id) => ({ id, state: 'draining', reason: 'New disks.', host: null, endsAt: null }),
    vacate: async (_id, { isEmpty }) => {
      seen.vacated.push(isEmpty);
      return isEmpty || state.hasRoom;
    },
  };
  const slices = {
    find: () => ({ state: state.isJoined ? 'joined' : 'left' }),
    note: async (_id: string, reason: string | null) => void seen.notes.push(reason),
  } as unknown as Slices;
  const evictions = new Evictions({
    slices,
    engineSlices: engineSlices as EngineSlices,
    findCompute: () => compute,
    log,
    relocation: {
      ending: ({ id }) => void seen.endings.push(id),
      evict: async (_compute, eviction) => {
        seen.evictions.push(eviction);
        const move = Promise.withResolvers<number>();
        moves.push(move);
        return move.promise;
      },
    },
  });
  const drain = (isDraining: boolean) => {
    state.isDraining = isDraining;
    drains.emit('slice');
  };
  const nextMove = (count: number) => waitFor(() => moves[count - 1], { what: 'a move' });
  return { compute, evictions, seen, state, drain, nextMove };
}

test('a slice that is asked to end waits while its nodes are moved, once, and one that was started by hand does not', async () => {
  const byHand = bench(undefined);
  assert.equal(await byHand.evictions.ending(byHand.compute), false);
  assert.equal(byHand.seen.evictions.length, 0);
  const { evictions, compute, seen, nextMove } = bench(60_000);
  assert.equal(await evictions.ending(compute), true);
  assert.ok(evictions.isLeaving('slice'), 'nothing is placed there');
  await nextMove(1);
  assert.deepEqual(seen.endings, ['slice'], 'it starts nothing again');
  (await nextMove(1)).resolve(1);
  await waitFor(async () => !(await evictions.ending(compute)), { what: 'the end of the wait' });
  assert.equal(seen.evictions.length, 1, 'what has no room is stopped with it');
  assert.deepEqual(seen.vacated, [], 'it ends by itself');
});

test('a slice whose grace is over does not wait for the move of its nodes', async () => {
  const { evictions, compute, seen } = bench(0);
  assert.equal(await evictions.ending(compute), false);
  await evictions.close();
  assert.deepEqual(seen.evictions, []);
});

test('a host that is drained again waits for the nodes that the drain before it moves', async () => {
  const { compute, evictions, seen, drain, nextMove } = bench(60_000);
  drain(true);
  await nextMove(1);
  drain(false);
  drain(true);
  assert.equal(await evictions.ending(compute), true, 'its nodes will be moved');
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  assert.equal(seen.evictions.length, 1);
  (await nextMove(1)).resolve(1);
  (await nextMove(2)).resolve(0);
  drain(false);
  await evictions.close();
});

test('a slice that joins on a host that is drained already has its nodes moved', async () => {
  const { evictions, state, drain, nextMove } = bench(60_000);
  state.isJoined = false;
  drain(true);
  state.isJoined = true;
  evictions.look('slice');
  (await nextMove(1)).resolve(0);
  await evictions.close();
});

test('a slice on a drained host ends when nothing is left on it, or when another host has room', async () => {
  const { evictions, seen, state, drain, nextMove } = bench(60_000);
  drain(true);
  (await nextMove(1)).resolve(1);
  await waitFor(() => seen.vacated.length === 1, { what: 'a slice that stays' });
  assert.match(seen.notes.at(-1) ?? '', /^New disks\. 1 of its nodes stay until/);
  assert.deepEqual(seen.endings, [], 'what could not be moved is started again there');
  state.hasRoom = true;
  // Asked again after two seconds; those without room are not reported a second time.
  (await nextMove(2)).resolve(1);
  await waitFor(() => seen.vacated.length === 2, { what: 'its second try' });
  assert.deepEqual(
    seen.evictions.map(({ isAgain }) => isAgain),
    [false, true],
  );
  drain(false);
  assert.equal(evictions.isLeaving('slice'), false, 'its host takes work again');
  assert.equal(seen.notes.at(-1), null);
  drain(true);
  (await nextMove(3)).resolve(0);
  await waitFor(() => seen.vacated.at(-1) === true, { what: 'an empty slice' });
  drain(false);
  // What is placed again is not moved.
  state.hasRoom = false;
  drain(true);
  await nextMove(4);
  evictions.ended('slice');
  assert.ok(seen.evictions.at(-1)?.stop.aborted);
  (await nextMove(4)).resolve(1);
  await evictions.close();
});
