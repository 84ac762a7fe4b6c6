import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderTable } from './table.ts';

const rows = [
  { step: 'ping', expected: 'no loss', measured: '0 % lost', good: true, figures: {} },
  { step: 'a longer step', expected: '+50 ms', measured: '+1 ms', good: false, figures: {} },
];

test('columns are aligned and verdicts are words', () => {
  assert.deepEqual(renderTable(rows, { colour: false }).split('\n'), [
    'step           expected  measured  verdict',
    '──────────────────────────────────────────',
    'ping           no loss   0 % lost  good',
    'a longer step  +50 ms    +1 ms     BAD',
  ]);
});

test('colours are added on request only', () => {
  assert.ok(renderTable(rows, { colour: true }).includes('\x1b[31mBAD'));
  assert.ok(!renderTable(rows, { colour: false }).includes('\x1b'));
});
