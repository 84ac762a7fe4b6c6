import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JsonText } from './json-text.ts';

const value = { b: [1, 'x', null, { z: true, a: 'line\nfeed' }], a: {}, c: [], d: undefined, e: -1.5 };
const expected = `{
    "a": {},
    "b": [
        1,
        "x",
        null,
        {
            "a": "line\\nfeed",
            "z": true
        }
    ],
    "c": [],
    "e": -1.5
}`;

describe('JSON text', () => {
  it('sorts keys and indents by four spaces', () => {
    assert.equal(new JsonText().encode(value).toString(), expected);
  });

  it('writes frozen values the same, at every depth, and only once', () => {
    const texts = new JsonText();
    const frozen = Object.freeze({
      ...value,
      b: Object.freeze([...value.b.slice(0, 3), Object.freeze({ z: true, a: 'line\nfeed' })]),
    });
    assert.equal(texts.encode(frozen).toString(), expected);
    assert.equal(texts.encode(frozen), texts.encode(frozen));
    assert.equal(texts.encode([frozen]).toString(), `[\n    ${expected.replaceAll('\n', '\n    ')}\n]`);
    const inner = { a: 'ä\ud800\u2028"', b: [], c: {}, d: [undefined, Number.NaN, [[]]], e: undefined, f: { y: new Date(0) } };
    const sorted = { ...inner, g: [{ ...inner, g: { ' ': -0 } }, 1e21], '10': 1, '9': 2 };
    const [{ 10: _ten, 9: _nine, ...inOrder }, outOfOrder] = [sorted, { ...sorted, a: { z: 1, b: 2 } }];
    for (const each of [inner, sorted, inOrder, outOfOrder, { a: { toJSON: 'x' } }])
      assert.equal(texts.encode(Object.freeze({ ...each })).toString(), texts.encode({ ...each }).toString());
  });

  it('is the same when it is made in turns, and others get theirs in between', async () => {
    const list = Object.freeze(Array.from({ length: 20_000 }, (_, index) => Object.freeze({ ...value, index })));
    for (const each of [value, [], {}, null, 'x', [[], {}, [1]], list, { list, at: new Date(0) }])
      assert.equal((await new JsonText().encodeInTurns(each)).toString(), new JsonText().encode(each).toString());
    const texts = new JsonText();
    let turns = 0;
    const count = () => {
      turns += 1;
      if (turns > 0) setImmediate(count);
    };
    count();
    const bytes = await texts.encodeInTurns(list);
    assert.ok(turns > 3, `${turns} turns`);
    turns = Number.NEGATIVE_INFINITY;
    assert.equal(await texts.encodeInTurns(list), bytes);
  });
});
