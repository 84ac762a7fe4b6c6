import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lineLimits, readTypedLines } from './typed-lines.ts';

describe('lines that notes offer to type', () => {
  it('are shown as they are, in any script', () => {
    for (const text of ['ping 10.0.0.1', 'a\nb  c', "printf 'ä → 日本' | nc -w 1 10.0.0.1 80"])
      assert.deepEqual(readTypedLines(text), { shown: text, refusal: undefined });
  });

  it('are refused with characters that hide, reorder or control, which are shown by their numbers', () => {
    for (const code of [0, 3, 9, 0xd, 0x1b, 0x7f, 0x9b, 0xa0, 0xad, 0x300, 0x34f, 0x115f, 0x200b, 0x200f, 0x2028, 0x202e])
      assert.deepEqual(readTypedLines(`a${String.fromCodePoint(code)}b`), {
        shown: `a\\u{${code.toString(16)}}b`,
        refusal: 'hidden',
      });
    for (const code of [0x2066, 0x2800, 0x3000, 0x3164, 0xd800, 0xe000, 0xfe0f, 0xfeff, 0xe0041, 0xe0100])
      assert.equal(readTypedLines(`a${String.fromCodePoint(code)}b`).refusal, 'hidden', code.toString(16));
  });

  it('are refused when they are too many or too long', () => {
    assert.equal(readTypedLines('x\n'.repeat(lineLimits.lines)).refusal, 'long');
    assert.equal(readTypedLines('x'.repeat(lineLimits.characters + 1)).refusal, 'long');
    assert.equal(readTypedLines('x'.repeat(lineLimits.characters)).refusal, undefined);
  });
});
