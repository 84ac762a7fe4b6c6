import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { EventStream } from '../../lib/event-stream.ts';
import type { RegisteredCompute } from '../computes/compute.ts';
import type { SliceEntry } from '../slices/slice-entry.ts';
import { LeavingSlices } from './leaving-slices.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };

/** A slice whose host is drained, or that is asked to end. */
function bench(graceMs: number | undefined) {
  const compute = { id: 'slice', epoch: 3, record: { name: 'slice' } } as unknown as RegisteredCompute;
  const state = { isDraining: false, hasRoom: false, moving: 0, left: 0 };
  const entry = { state: 'joined' as SliceEntry['state'], isDraining: false, order: null as object | null };
  const seen = { vacated: [] as boolean[], notes: [] as (string | null)[], sent: [] as string[], looks: 0 };
  const drains = new EventStream<string>();
  const leaving = new LeavingSlices({
    slices: { find: () => entry as SliceEntry, note: async (_id, reason) => void seen.notes.push(reason) },
    engineSlices: {
      drains,
      isDraining: () => state.isDraining,
      graceMs: () => graceMs,
      reportOf: (id) => ({ id, state: 'draining', reason: 'New disks.', host: null, endsAt: null }),
      vacate: async (_id, { isEmpty }) => {
        seen.vacated.push(isEmpty);
        return isEmpty || state.hasRoom;
      },
    },
    findCompute: () => compute,
    log,
    nodes: {
      look: () => {
        seen.looks += 1;
      },
      notify: (_compute, message) => void seen.sent.push(message),
      count: () => ({ left: state.left, moving: state.moving }),
    },
  });
  const drain = (isDraining: boolean) => {
    state.isDraining = isDraining;
    drains.emit('slice');
  };
  return { compute, leaving, entry, seen, state, drain };
}

test('nodes leave a slice that is lost for good, drained by a client or by its engine, and no other', () => {
  const { leaving, compute, entry, state } = bench(60_000);
  const reason = () => leaving.reasonOf(compute);
  assert.equal(reason(), 'no');
  entry.isDraining = true;
  assert.equal(reason(), 'drained');
  state.isDraining = true;
  assert.equal(reason(), 'evicted', 'to other slices only');
  entry.state = 'left';
  assert.equal(reason(), 'no', 'it returns with its disks');
  entry.state = 'lost';
  assert.equal(reason(), 'lost');
  entry.order = {};
  assert.equal(reason(), 'no', 'its engine places it again');
});

test('a slice that is asked to end waits while its nodes are moved, and one that was started by hand does not', () => {
  const byHand = bench(undefined);
  assert.equal(byHand.leaving.onSliceEnding(byHand.compute), false);
  assert.ok(byHand.leaving.isEnding(byHand.compute), 'it starts nothing again');
  assert.equal(byHand.leaving.reasonOf(byHand.compute), 'no');
  const { leaving, compute, seen, state } = bench(60_000);
  Object.assign(state, { left: 3, moving: 2 });
  assert.equal(leaving.onSliceEnding(compute), true);
  assert.equal(leaving.reasonOf(compute), 'evicted');
  assert.ok(leaving.isLeaving('slice'), 'nothing is placed there');
  assert.equal(leaving.onSliceEnding(compute), true);
  assert.deepEqual([seen.looks, seen.sent.length], [1, 1]);
  assert.match(seen.sent[0] ?? '', /^slice: New disks\. Its nodes are moved to other slices/);
  Object.assign(state, { left: 1, moving: 0 });
  assert.equal(leaving.onSliceEnding(compute), false, 'what has no room is stopped with it');
  assert.deepEqual(seen.vacated, [], 'it ends by itself');
  leaving.onSliceEnded('slice');
  assert.equal(leaving.isEnding(compute), false);
});

test('a slice whose grace is over does not wait for the move of its nodes', () => {
  const { leaving, compute, state } = bench(0);
  state.moving = 1;
  assert.equal(leaving.onSliceEnding(compute), false);
  assert.equal(leaving.reasonOf(compute), 'no');
});

test('a slice that joins on a host that is drained already has its nodes moved', async () => {
  const { leaving, entry, seen, drain, state } = bench(60_000);
  entry.state = 'left';
  drain(true);
  assert.deepEqual(seen.sent, []);
  entry.state = 'joined';
  state.moving = 1;
  leaving.look('slice');
  assert.equal(seen.sent.length, 1);
  await leaving.close();
});

test('a slice on a drained host ends when nothing is left on it, or when another host has room', { timeout: 60_000 }, async () => {
  const { leaving, seen, state, drain } = bench(60_000);
  Object.assign(state, { left: 2, moving: 1 });
  drain(true);
  state.moving = 0;
  state.left = 1;
  await waitFor(() => seen.vacated.length === 1, { what: 'a slice that stays' });
  assert.match(seen.notes.at(-1) ?? '', /^New disks\. 1 of its nodes stay until/);
  state.hasRoom = true;
  await waitFor(() => seen.vacated.length === 2, { what: 'its second try' });
  drain(false);
  assert.equal(leaving.isLeaving('slice'), false, 'its host takes work again');
  drain(true);
  state.left = 0;
  await waitFor(() => seen.vacated.at(-1) === true, { what: 'an empty slice' });
  state.moving = 1;
  drain(false);
  drain(true);
  const { length } = seen.vacated;
  leaving.onSliceEnded('slice');
  state.moving = 0;
  await leaving.close();
  assert.equal(seen.vacated.length, length, 'what is placed again is not vacated');
});
