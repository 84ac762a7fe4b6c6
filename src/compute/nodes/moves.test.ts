/** Moves whose controller has died. The nodes are recorded calls: real controllers do not die at will between two requests. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock, type TestContext, test } from 'node:test';
import type { Departure, MachineArrival, MoveStream } from '../../emulators/driver.ts';
import type { MoveOffer } from '../../schema/move.ts';
import type { Context } from '../context.ts';
import { Arrivals } from './arrivals.ts';
import { Departures } from './departures.ts';
import type { ComputeNode } from './node.ts';

const offer = { drives: [] } as unknown as MoveOffer;
const idleMs = 60_000;

function withTimers(t: TestContext): void {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
}

function arrivingNode() {
  const aborted: string[] = [];
  const receive = (_view: unknown, { ready, signal }: MachineArrival) => {
    ready(() => ({}));
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted.push('aborted');
        reject(new Error('aborted'));
      });
    });
  };
  const node = { id: 'VM', name: 'VM', driver: { memory: { receive } }, receive: (begin: (view: object) => unknown) => begin({}) };
  return { node: node as unknown as ComputeNode, aborted };
}

test('a machine that is sent nothing is removed, though its answers are read', async (t) => {
  withTimers(t);
  const [arrivals, { node, aborted }] = [new Arrivals(), arrivingNode()];
  await arrivals.begin(node, offer);
  arrivals.stream(node, 'drive0');
  mock.timers.tick(idleMs);
  assert.deepEqual(aborted, ['aborted']);
});

test('a machine whose stream breaks off is removed, and one that is sent something waits', async (t) => {
  withTimers(t);
  const [arrivals, { node, aborted }] = [new Arrivals(), arrivingNode()];
  await arrivals.begin(node, offer);
  const sending = Promise.withResolvers<void>();
  const sent = arrivals.take(node, 'memory', () => sending.promise);
  mock.timers.tick(idleMs);
  assert.deepEqual(aborted, []);
  sending.reject(new Error('broken'));
  await assert.rejects(sent, /broken/);
  assert.deepEqual(aborted, ['aborted']);
});

async function leaving() {
  const calls: string[] = [];
  const running = Promise.withResolvers<void>();
  const from = new EventEmitter() as unknown as NonNullable<MoveStream['from']>;
  const departure = {
    offer,
    stream: async () => ({ from }),
    mirror: async () => undefined,
    async abort() {
      calls.push('abort');
      await running.promise;
    },
    end: () => undefined,
  } as unknown as Departure;
  const emulator = { depart: async () => departure, ended: new Promise(() => undefined) };
  const node = {
    id: 'VM',
    name: 'VM',
    status: 'started',
    emulator,
    setDeparted: async () => undefined,
    continueHere: async () => undefined,
  };
  const departures = new Departures({ log: () => undefined } as unknown as Context);
  await departures.begin(node as unknown as ComputeNode);
  return { departures, node: node as unknown as ComputeNode, calls, running, from };
}

test('a machine whose streams are not read stays, also when its disks are to be mirrored', async (t) => {
  withTimers(t);
  const { departures, node, calls, running } = await leaving();
  await departures.mirror(node);
  mock.timers.tick(idleMs);
  assert.deepEqual(calls, ['abort']);
  running.resolve();
});

test('a request that ends a move is answered when the machine runs again, though a broken stream has begun that', async () => {
  const { departures, node, calls, running, from } = await leaving();
  await departures.stream(node, 'console');
  from.emit('close');
  assert.deepEqual(calls, ['abort']);
  let isAnswered = false;
  const answered = departures.abort(node).then(() => {
    isAnswered = true;
  });
  await new Promise(setImmediate);
  assert.equal(isAnswered, false);
  await assert.rejects(departures.mirror(node), /it was given up/);
  running.resolve();
  await answered;
  assert.deepEqual(calls, ['abort']);
});
