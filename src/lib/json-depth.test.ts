import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeeper } from './json-depth.ts';

const deeper = (text: string, limit: number) => isDeeper(Buffer.from(text), limit);

test('objects and arrays count as levels, and what strings hold does not', () => {
  assert.equal(deeper('[[{"a": [1]}]]', 4), false);
  assert.equal(deeper('[[{"a": [1]}]]', 3), true);
  assert.equal(deeper(`{"a": "${'['.repeat(50)}", "b": "\\"[[[[[[[[[[[["}`, 3), false);
  assert.equal(deeper('[],[],[],[],[],[],[]', 1), false);
  assert.equal(deeper('['.repeat(100_000), 100), true);
});
