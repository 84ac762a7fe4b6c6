/** All inputs of `decide`, and the rows of its policy one by one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runEndings } from '../../schema/node-runs.ts';
import type { WantedRun } from '../model/wanted.ts';
import { type Decision, decide, decidePlace, type LeaveReason, type Observed } from './decide.ts';

const now = 1_000;
const generation = 7;
const wanted = (run: WantedRun['run']): WantedRun => ({ run, generation, by: 'client' });
const calm: Observed = {
  ...{ isBusy: false, reach: 'connected', machine: 'stopped', tellsRuns: true, run: {}, wasSeenRunning: false, failed: undefined },
  ...{ leaving: 'no', hasRoom: false, failedMove: undefined, hasPendingMove: false, isUnmade: false },
};

const runs: Observed['run'][] = [
  'unknown',
  ...[undefined, generation - 1, generation, generation + 1].flatMap((of) =>
    [undefined, ...runEndings].map((ending) => ({ generation: of, ending })),
  ),
];
/** Whether and why it has to leave, and what became of that. */
const places: Pick<Observed, 'leaving' | 'hasRoom' | 'failedMove' | 'hasPendingMove' | 'isUnmade'>[] = [
  { leaving: 'no', hasRoom: false, hasPendingMove: false, isUnmade: false },
  { leaving: 'no', hasRoom: false, hasPendingMove: false, isUnmade: true },
  { leaving: 'drained', hasRoom: true, hasPendingMove: true, isUnmade: true },
  { leaving: 'no', hasRoom: false, hasPendingMove: true, isUnmade: false },
  { leaving: 'drained', hasRoom: true, hasPendingMove: true, isUnmade: false },
  { leaving: 'lost', hasRoom: true, hasPendingMove: true, isUnmade: false },
  ...(['lost', 'drained', 'evicted'] as const satisfies LeaveReason[]).flatMap((leaving) => [
    { leaving, hasRoom: false, hasPendingMove: false, isUnmade: false },
    { leaving, hasRoom: true, hasPendingMove: false, isUnmade: false },
    {
      leaving,
      hasRoom: true,
      failedMove: { reason: 'no disk', count: 1, notBefore: now - 1 },
      hasPendingMove: false,
      isUnmade: false,
    },
    {
      leaving,
      hasRoom: true,
      failedMove: { reason: 'no disk', count: 1, notBefore: now + 1 },
      hasPendingMove: false,
      isUnmade: false,
    },
  ]),
];
const failures = [
  undefined,
  { reason: 'no memory', count: 1, notBefore: now - 1 },
  { reason: 'no memory', count: 1, notBefore: now + 1 },
];

function* all(): Generator<[WantedRun, Observed]> {
  for (const run of ['running', 'stopped'] as const)
    for (const isBusy of [false, true])
      for (const reach of ['connected', 'away', 'ending', 'fenced', 'unregistered'] as const)
        for (const machine of ['stopped', 'started', 'suspended'] as const)
          for (const tellsRuns of [false, true])
            for (const facts of runs)
              for (const wasSeenRunning of [false, true])
                for (const failed of failures)
                  for (const place of places)
                    yield [wanted(run), { isBusy, reach, machine, tellsRuns, run: facts, wasSeenRunning, failed, ...place }];
}

/** State after the decision is carried out, on a compute that does as it is asked. */
function after([before, observed]: [WantedRun, Observed], decision: Decision): [WantedRun, Observed] {
  const next = { ...observed, failed: undefined };
  if (decision.do === 'move')
    return [
      before,
      {
        ...next,
        reach: 'connected',
        leaving: 'no',
        machine: 'stopped',
        run: { generation, ending: 'asked' },
        wasSeenRunning: false,
      },
    ];
  if (decision.do === 'settle') return [before, { ...next, hasPendingMove: false }];
  if (decision.do === 'make') return [before, { ...next, isUnmade: false }];
  if (decision.do === 'start') return [before, { ...next, machine: 'started', run: { generation }, wasSeenRunning: true }];
  if (decision.do === 'stop') return [before, { ...next, machine: 'stopped', run: { generation, ending: 'asked' } }];
  if (decision.do === 'want')
    return [
      { ...before, ...decision, generation: generation + 1 },
      { ...next, wasSeenRunning: false },
    ];
  // A list never leaves a stopped run of this generation without its end.
  if (decision.do === 'list')
    return [before, { ...next, run: observed.run === 'unknown' ? {} : { ...observed.run, ending: 'lost' } }];
  return [before, next];
}

describe('for every state', () => {
  test('nothing is done where the compute cannot be reached or the node is being moved, and every wait has a sentence', () => {
    let count = 0;
    for (const [want, observed] of all()) {
      count += 1;
      const decision = decide(want, observed, now);
      const isActing = decision.do !== 'nothing' && decision.do !== 'wait';
      const require = (isSo: boolean) => isSo || assert.fail(JSON.stringify([want, observed, decision]));
      // Files of a lost slice are here.
      const isMoveAway = ['move', 'settle'].includes(decision.do) && (observed.leaving === 'lost' || observed.reach === 'ending');
      if (observed.reach !== 'connected' && !isMoveAway) require(!isActing);
      if (observed.isBusy) require(!isActing);
      if (observed.hasPendingMove && observed.leaving !== 'lost') require(['settle', 'wait', 'nothing'].includes(decision.do));
      if (decision.do === 'move') require(observed.hasRoom && observed.leaving !== 'no');
      if (observed.leaving === 'lost') require(decision.do === 'move' || decision.do === 'wait' || observed.isBusy);
      if (decision.do === 'wait') require(/\w \w/.test(decision.why));
      if (decision.do === 'start') require(want.run === 'running' && observed.machine === 'stopped');
      if (decision.do === 'stop') require(want.run === 'stopped' && observed.machine !== 'stopped');
      if (decision.do === 'make') require(observed.isUnmade && observed.leaving === 'no');
      if (decision.do === 'list') require(observed.tellsRuns);
      // A person who asks again has another generation, which has not failed.
      if (observed.failed && observed.failed.notBefore > now)
        require(!['make', 'start', 'stop', 'list', 'settle'].includes(decision.do));
    }
    assert.equal(count, 2 * 2 * 5 * 3 * 2 * runs.length * 2 * 3 * places.length);
  });

  test('it is settled after six decisions, where the compute does as it is asked', () => {
    for (const [want, observed] of all()) {
      let state: [WantedRun, Observed] = [want, { ...observed, failed: undefined }];
      for (let steps = 0; steps < 6; steps++) state = after(state, decide(...state, now));
      const last = decide(...state, now);
      if (last.do !== 'nothing' && last.do !== 'wait') assert.fail(JSON.stringify([want, observed, last]));
    }
  });
});

describe('a node that is wanted and stopped', () => {
  const of = (observed: Partial<Observed>) => decide(wanted('running'), { ...calm, ...observed }, now).do;

  test('runs again when it was lost with its host, and when it never ran', () => {
    assert.equal(of({ run: { generation, ending: 'lost' } }), 'start');
    assert.equal(of({ run: {} }), 'start');
    assert.equal(of({ run: { ending: 'lost' }, wasSeenRunning: true }), 'start');
  });

  test('is not wanted any more when its guest switched it off, its emulator failed, or its server ended with its nodes', () => {
    for (const ending of ['guest', 'failed', 'server'] as const) {
      const decision = decide(wanted('running'), { ...calm, run: { generation, ending } }, now);
      assert.deepEqual(decision, { do: 'want', run: 'stopped', by: 'guest' });
      assert.equal(of({ run: { generation: generation - 1, ending } }), 'start', 'that was an earlier run');
      assert.equal(of({ run: { ending }, wasSeenRunning: true }), 'want');
      assert.equal(of({ run: { ending } }), 'start', 'which run that was is not known');
    }
  });

  test('continues where it was stopped to be moved or frozen', () => {
    assert.equal(of({ run: { generation, ending: 'asked' } }), 'start');
  });

  test('is looked up where its compute has not said how it ended', () => {
    assert.equal(of({ run: 'unknown' }), 'list');
    assert.equal(of({ run: { generation } }), 'list');
  });

  test('of a compute that does not say how runs end has ended by itself when it was seen running, and starts otherwise', () => {
    assert.equal(of({ tellsRuns: false, run: 'unknown', wasSeenRunning: true }), 'want');
    assert.equal(of({ tellsRuns: false, run: 'unknown' }), 'start');
    assert.equal(of({ tellsRuns: false, run: { ending: 'lost' }, wasSeenRunning: true }), 'start');
  });
});

describe('a node that runs and is not wanted', () => {
  const of = (run: Observed['run'], tellsRuns = true) =>
    decide(wanted('stopped'), { ...calm, machine: 'started', run, tellsRuns }, now);
  const adopted = { do: 'want', run: 'running', by: 'adopted' };

  test('is stopped when it is of an earlier start', () => assert.deepEqual(of({ generation: generation - 1 }), { do: 'stop' }));

  test('is wanted from then on when another program has started it, or its starter is not known', () => {
    assert.deepEqual(of({}), adopted);
    assert.deepEqual(of({ generation: generation + 1 }), adopted);
    assert.deepEqual(of('unknown', false), adopted);
    assert.deepEqual(of('unknown'), { do: 'list' });
  });
});

describe('a node whose slice is left', () => {
  const of = (observed: Partial<Observed>, run: WantedRun['run'] = 'running') =>
    decide(wanted(run), { ...calm, machine: 'started', run: { generation }, hasRoom: true, ...observed }, now);

  test('is moved with its files while its slice can be reached, and with the last copy of them when it is lost', () => {
    assert.deepEqual(of({ leaving: 'drained' }), { do: 'move', takeFiles: true });
    assert.deepEqual(of({ leaving: 'evicted', reach: 'ending' }), { do: 'move', takeFiles: true });
    assert.deepEqual(of({ leaving: 'lost', reach: 'fenced', machine: 'stopped' }), { do: 'move', takeFiles: false });
    assert.deepEqual(of({ leaving: 'drained', machine: 'stopped' }, 'stopped'), { do: 'move', takeFiles: true });
    assert.equal(of({ leaving: 'drained', reach: 'away' }).do, 'wait');
  });

  test('is stopped before it is moved, when it is not wanted', () => {
    assert.deepEqual(of({ leaving: 'drained', run: { generation: generation - 1 } }, 'stopped'), { do: 'stop' });
    assert.deepEqual(of({ leaving: 'drained', run: {} }, 'stopped'), { do: 'want', run: 'running', by: 'adopted' });
  });

  test('runs where it is while nothing has room for it, or a move has failed, unless its slice is lost', () => {
    const stopped = { machine: 'stopped', run: {} } as const;
    const failed = { failedMove: { reason: 'no disk', count: 1, notBefore: now + 1 } };
    assert.equal(of({ leaving: 'drained', hasRoom: false, ...stopped }).do, 'start');
    assert.equal(of({ leaving: 'drained', ...failed, ...stopped }).do, 'start');
    assert.deepEqual(of({ leaving: 'drained', ...failed }), { do: 'wait', why: 'no disk', failed: failed.failedMove });
    assert.equal(of({ leaving: 'lost', reach: 'fenced', hasRoom: false, ...stopped }).do, 'wait');
  });
});

test('a node that its compute could not make is made there when that can be reached, also one that always runs', () => {
  const unmade = { ...calm, isUnmade: true };
  assert.equal(decidePlace(unmade, now).do, 'make');
  assert.equal(decide(wanted('stopped'), unmade, now).do, 'make');
  assert.equal(decide(wanted('running'), unmade, now).do, 'start', 'which makes it first');
  assert.equal(decidePlace({ ...unmade, reach: 'away' }, now).do, 'nothing');
  assert.equal(decidePlace({ ...unmade, failed: { reason: 'busy', count: 1, notBefore: now + 1 } }, now).do, 'wait');
});
