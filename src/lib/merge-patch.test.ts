import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergePatch } from './merge-patch.ts';

describe('a JSON merge patch', () => {
  /** Examples of RFC 7396, appendix A. */
  const examples: readonly (readonly [target: unknown, patch: unknown, result: unknown])[] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'foo' }, null, null],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of examples)
    it(`${JSON.stringify(target)} with ${JSON.stringify(patch)}`, () => assert.deepEqual(mergePatch(target, patch), result));

  it('makes members of keys that objects inherit, and changes no prototype', () => {
    const patch: unknown = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}');
    assert.deepEqual(Object.keys(mergePatch({}, patch) as object), ['__proto__', 'constructor']);
    assert.equal((Object.prototype as { polluted?: number }).polluted, undefined);
  });
});
