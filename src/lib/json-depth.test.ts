import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasMoreKeys, hasMoreValues, isDeeper } from './json-depth.ts';

const deeper = (text: string, limit: number) => isDeeper(Buffer.from(text), limit);

test('objects and arrays count as levels, and what strings hold does not', () => {
  assert.equal(deeper('[[{"a": [1]}]]', 4), false);
  assert.equal(deeper('[[{"a": [1]}]]', 3), true);
  assert.equal(deeper(`{"a": "${'['.repeat(50)}", "b": "\\"[[[[[[[[[[[["}`, 3), false);
  assert.equal(deeper('[],[],[],[],[],[],[]', 1), false);
  assert.equal(deeper('['.repeat(100_000), 100), true);
});

test('objects, arrays and what they hold count as values, and names and what strings hold do not', () => {
  const texts = [
    '[1, "a,[{", {"b": [], "c,": {}}]',
    '[ [], {} ,[ ]]',
    '[[[[[[[[]]]]]]]]',
    '{"a": {"b": {"c": {"d": 1}}}}',
    `[${'{},'.repeat(50)}1]`,
  ];
  for (const text of texts) {
    let count = 0;
    JSON.parse(text, (_key, value) => {
      count += 1;
      return value;
    });
    assert.equal(hasMoreValues(Buffer.from(text), count), false, text);
    assert.equal(hasMoreValues(Buffer.from(text.padEnd(2 * count + 2)), count - 1), true, text);
  }
});

test('keys count for the object that has them, and what strings hold does not', () => {
  const more = (text: string, limit: number) => hasMoreKeys(Buffer.from(text.padEnd(5 * limit + 1)), limit);
  const text = '{"a:": {"b": 1, "c": {"d": [1, {"e": "::::\\":"}]}}, "f": {}, "g": [{"h": 1}]}';
  assert.equal(more(text, 3), false);
  assert.equal(more(text, 2), true);
  assert.equal(more(`[${'{"a":1},'.repeat(50)}1]`, 1), false);
  assert.equal(more('{"a":[{"b":1}],"c":{"d":1},"e":1}', 2), true);
});
