import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeTexts } from './merge-texts.ts';

const base = 'a\nb\nc\nd\n';

test('changes of other lines, also of neighbouring ones, come together', () => {
  assert.equal(mergeTexts(base, 'a\nB\nc\nd\n', 'a\nb\nC\nd\n'), 'a\nB\nC\nd\n');
  assert.equal(mergeTexts(base, 'new\na\nb\nc\nd\n', 'a\nb\nd\nlast\n'), 'new\na\nb\nd\nlast\n');
  assert.equal(mergeTexts(base, base, 'x\n'), 'x\n');
  assert.equal(mergeTexts(base, 'x\n', base), 'x\n');
});

test('the same change of both is made once', () => {
  assert.equal(mergeTexts(base, 'a\nB\nc\nd\n', 'a\nB\nc\nD\n'), 'a\nB\nc\nD\n');
});

test('different changes of one line, and insertions in one place, are not guessed at', () => {
  assert.equal(mergeTexts(base, 'a\nB\nc\nd\n', 'a\nX\nc\nd\n'), undefined);
  assert.equal(mergeTexts(base, 'a\nmine\nb\nc\nd\n', 'a\ntheirs\nb\nc\nd\n'), undefined);
  assert.equal(mergeTexts(base, 'a\nc\nd\n', 'a\nB\nc\nd\n'), undefined);
});
