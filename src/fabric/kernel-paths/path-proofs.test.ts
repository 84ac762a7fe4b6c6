import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { InterfacePlace } from '../ports/interface-place.ts';
import type { KernelCounters } from './kernel-counters.ts';
import { PathProofs } from './path-proofs.ts';

const queueLength = 1000;

/** A path to an interface that has sent nothing; `next` has the counters read once more. */
function play(context: TestContext, figures: Readonly<Record<string, number>>) {
  let redirected = 0;
  let dropped = 0;
  let readings = 0;
  const readNow = async () => {
    readings += 1;
    return new Map([
      [1, { frames: redirected, bytes: 0, lost: 0 }],
      [2, { frames: 0, bytes: 0, lost: 0 }],
    ]);
  };
  const readSent = async () => new Map(['a', 'b'].map((name) => [name, { sent: 0, dropped }]));
  const readFigure = (_name: string, figure: string) => ({ carrier: 1, carrier_changes: 0, ...figures })[figure];
  const place = { readSent, readFigure } as unknown as InterfacePlace;
  const proofs = new PathProofs({ readNow } as unknown as KernelCounters, place);
  context.after(() => proofs.close());
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const failures: string[] = [];
  proofs.begin({ ends: ['a', 'b'], actions: [1, 2], failed: (reason) => failures.push(reason) });
  const next = async (frames: number, lost = 0) => {
    [redirected, dropped] = [frames, lost];
    for (const before = readings; readings === before; await turn()) context.mock.timers.tick(240_000);
    // The reading has been judged.
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  return { failures, next };
}

test('frames that an end of a container has not sent are taken elsewhere', async (context) => {
  const { failures, next } = play(context, {});
  await next(0);
  await next(2);
  assert.match(failures.join(), /redirected 2 frames to b, which sent none/);
});

test('as many frames as the queue of a TAP interface holds may wait for its machine', async (context) => {
  const { failures, next } = play(context, { tun_flags: 0x5002, tx_queue_len: queueLength });
  await next(0);
  await next(queueLength - 1);
  await next(queueLength);
  assert.deepEqual(failures, []);
  await next(queueLength + 1);
  assert.match(failures.join(), /redirected 1001 frames to b, which sent none/);
});

test('frames that a full queue has dropped have arrived', async (context) => {
  const { failures, next } = play(context, { tun_flags: 0x5002, tx_queue_len: queueLength });
  await next(0);
  await next(queueLength + 5, 5);
  await next(queueLength + 500, 5);
  assert.deepEqual(failures, []);
});
