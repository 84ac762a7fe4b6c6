import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ranked } from './rank.ts';

const entry = (label: string, hint = '') => ({ label, hint });
const entries = [
  entry('Start', 'Command'),
  entry('Restart all', 'Command'),
  entry('R1', 'Node'),
  entry('Core – R1', 'Link'),
  entry('R10', 'Node'),
];
const found = (text: string, most = 9) => ranked(entries, text, most).map(({ label }) => label);

describe('the order of the command menu', () => {
  it('is that of the list without a text', () => assert.deepEqual(found(' ', 3), ['Start', 'Restart all', 'R1']));

  it('puts the whole name before its beginning, then the beginning of a word, then any part', () => {
    assert.deepEqual(found('r1'), ['R1', 'R10', 'Core – R1']);
    assert.deepEqual(found('start'), ['Start', 'Restart all']);
  });

  it('finds by other words, from their beginning', () => {
    const boot = { ...entry('Start', 'Command'), words: 'boot power' };
    assert.deepEqual(ranked([boot], 'pow', 9), [boot]);
    assert.deepEqual(ranked([boot], 'ower', 9), []);
  });

  it('lists what cannot be run after its equals, and not without a text', () => {
    const [able, unable] = [entry('Stop all'), { ...entry('Stop'), lacks: 'Select a node first' }];
    assert.deepEqual(ranked([unable, able], 'sto', 9), [able, unable]);
    assert.deepEqual(ranked([unable, able], '', 9), [able]);
  });

  it('asks for every word, in the label or the hint', () => {
    assert.deepEqual(found('r1 node'), ['R1', 'R10']);
    assert.deepEqual(found('node x'), []);
  });
});
