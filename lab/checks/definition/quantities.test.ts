import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isWithin, QuantityError, readDuration, readRange } from './quantities.ts';

it('reads times with their units, and says what is wrong with others', () => {
  assert.deepEqual(['500ms', '10s', '2m', '1.5 s', '20us'].map(readDuration), [500, 10_000, 120_000, 1500, 0.02]);
  for (const wrong of ['10', 's', '-1s', '10 parsecs', '25h', '']) assert.throws(() => readDuration(wrong), QuantityError, wrong);
});

it('reads ranges: a value, a bound, both bounds', () => {
  const holds = (text: string | number, measure: 'time' | 'percent' | 'rate' | 'count', ...values: number[]) =>
    values.map((value) => isWithin(readRange(text, measure), value));
  assert.deepEqual(holds('<= 1%', 'percent', 0, 1, 1.1), [true, true, false]);
  assert.deepEqual(holds('< 1%', 'percent', 0.9, 1), [true, false]);
  assert.deepEqual(holds('> 5', 'count', 5, 6), [false, true]);
  assert.deepEqual(holds(3, 'count', 3, 4), [true, false]);
  assert.deepEqual(holds('18ms..1s', 'time', 17, 18, 1000, 1001), [false, true, true, false]);
  assert.deepEqual(holds('>= 5mbit', 'rate', 4999, 5000), [false, true]);
  for (const wrong of ['9..5', '<= x', '5..', '<= 5kg', '']) assert.throws(() => readRange(wrong, 'count'), QuantityError, wrong);
  assert.throws(() => readRange('5', 'time'), /has no unit/);
});
