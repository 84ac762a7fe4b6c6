import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withLineEnds } from './line-ends.ts';

describe('line ends of an edited file', () => {
  for (const [what, stored, edited, expected] of [
    ['stay line feeds', 'a\nb\n', 'a\nc\n', 'a\nc\n'],
    ['of Windows stay, also of new lines', 'a\r\nb\r\n', 'a\nx\ny\nb\n', 'a\r\nx\r\ny\r\nb\r\n'],
    ['of several kinds stay with their lines', 'a\r\nb\nc\r\nd', 'a\nb\nx\nd', 'a\r\nb\nx\r\nd'],
    ['stay when nothing was changed', 'a\rb\nc\r\n', 'a\nb\nc\n', 'a\rb\nc\r\n'],
    ['stay when lines are deleted', 'a\r\nb\nc\r\n', 'c\n', 'c\r\n'],
    ['of an empty file are line feeds', '', 'a\n', 'a\n'],
  ] as const)
    it(what, () => assert.equal(withLineEnds(edited, stored), expected));
});
