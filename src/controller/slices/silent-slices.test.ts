import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine, SliceState } from '../engines/engine.ts';
import { SilentSlices } from './silent-slices.ts';
import { invited, type SliceEntry } from './slice-entry.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };
const leaseMs = 100;
const waitMs = 3 * leaseMs;
const entry: SliceEntry = { ...invited, name: 'S', invitation: null, epoch: 1, state: 'joined' };

function silentSlices({ canBeAsked = true } = {}) {
  const engine = { state: 'running' as SliceState | undefined, releases: 0, isAway: false };
  const release = async () => {
    engine.releases += 1;
    if (engine.isAway) throw new Error('it is away');
  };
  const engineSlices = {
    engineOf: () => ({ canBeAsked, release }) as Partial<Engine> as Engine,
    reportOf: (id: string) => engine.state && { id, state: engine.state, reason: null, host: null, endsAt: null },
  };
  const silent = new SilentSlices(engineSlices, leaseMs, waitMs, log);
  /** Asks for so many ms, again and again like the controller, whether the slice is over. */
  const isOverWithin = async (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until) {
      if (silent.isOver('id', entry)) return true;
      await pause(leaseMs / 20);
    }
    return false;
  };
  return { engine, silent, isOverWithin };
}

test('a slice that can ask its engine is lost a full wait after that has agreed to end it and reports it no more', async () => {
  const { engine, isOverWithin } = silentSlices();
  assert.equal(await isOverWithin(2 * waitMs), false, 'it is reported as running');
  assert.ok(engine.releases > 1, 'its engine is asked again');
  engine.state = 'lost';
  const begun = performance.now();
  assert.equal(await isOverWithin(10 * waitMs), true);
  // `bootMs` counts in steps of 10 ms.
  assert.ok(performance.now() - begun >= waitMs - 20);
});

test('a slice whose engine cannot be reached is not lost', async () => {
  const { engine, isOverWithin } = silentSlices();
  Object.assign(engine, { state: 'lost', isAway: true });
  assert.equal(await isOverWithin(2 * waitMs), false);
});

test('the wait begins anew when its engine runs it again, as after the loss of its state', async () => {
  const { engine, isOverWithin } = silentSlices();
  engine.state = 'lost';
  assert.equal(await isOverWithin(waitMs * 0.8), false);
  const { releases } = engine;
  engine.state = 'running';
  assert.equal(await isOverWithin(waitMs), false);
  assert.ok(engine.releases > releases);
});

test('one that cannot ask, or is suspended, is lost by its lease', () => {
  assert.equal(silentSlices({ canBeAsked: false }).silent.isOver('id', entry), true);
  const { engine, silent } = silentSlices();
  engine.state = 'suspended';
  assert.equal(silent.isOver('id', entry), true);
  assert.equal(engine.releases, 0);
});
