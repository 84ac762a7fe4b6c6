/** All inputs of `decideSlice`, and where they lead at an engine that does as it is asked. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decideSlice, type ObservedSlice, type SliceDecision } from './decide-slice.ts';

const states = ['unknown', 'invited', 'joined', 'lost', 'left', 'deleted'] as const;
const reports = ['none', 'unlisted', 'pending', 'running', 'suspended', 'draining', 'lost', 'ended'] as const;

function* all(): Generator<ObservedSlice> {
  for (const state of states)
    for (const report of reports)
      for (const isPlacing of [false, true]) for (const isInvited of [false, true]) yield { state, report, isPlacing, isInvited };
}

/** State after the decision is carried out. */
function after(slice: ObservedSlice, decision: SliceDecision): ObservedSlice {
  if (decision === 'fence') return { ...slice, state: 'left', isInvited: false };
  if (decision === 'place' || decision === 'replace') return { ...slice, report: 'none', isInvited: true };
  if (decision === 'release' || decision === 'remove') return { ...slice, report: 'unlisted' };
  if (decision === 'forget') return { ...slice, state: 'unknown' };
  return slice;
}

describe('for every state of a slice', () => {
  test('data is deleted only with the slice, a lease ends only by the word of its engine, and one place is asked for at a time', () => {
    let count = 0;
    for (const slice of all()) {
      count += 1;
      const { state, report, isPlacing } = slice;
      const decision = decideSlice(slice);
      const require = (isSo: boolean) => isSo || assert.fail(JSON.stringify([slice, decision]));
      if (decision === 'remove' || decision === 'forget') require(state === 'deleted');
      if (decision === 'forget') require(report === 'ended' || report === 'unlisted');
      if (decision === 'release') require(state === 'unknown');
      if (decision === 'fence') require(state === 'joined' && report === 'ended');
      if (decision === 'place' || decision === 'replace') require(['invited', 'lost', 'left'].includes(state) && !isPlacing);
      if (report === 'suspended') require(!['fence', 'place', 'replace', 'forget'].includes(decision));
      // A process that may still run is released before its successor is placed.
      if (decision === 'place') require(report === 'ended' || report === 'unlisted');
    }
    assert.equal(count, states.length * reports.length * 4);
  });

  test('it is settled after three decisions, where its engine does as it is asked', () => {
    for (const first of all()) {
      let slice = first;
      for (let steps = 0; steps < 3; steps++) slice = after(slice, decideSlice(slice));
      assert.equal(decideSlice(slice), 'nothing', JSON.stringify([first, slice]));
    }
  });

  test('one without a place gets one, unless its engine keeps its place or is being asked', () => {
    for (const slice of all()) {
      const { state, report, isPlacing } = slice;
      if (!['invited', 'lost', 'left'].includes(state) || isPlacing || !['unlisted', 'ended', 'lost'].includes(report)) continue;
      assert.match(decideSlice(slice), /^(re)?place$/, JSON.stringify(slice));
    }
  });
});
