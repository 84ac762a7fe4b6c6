import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finite, flag, list, object, oneOf, optional, type Shape, text, textThat, unchecked, variants, whole } from './shape.ts';

const circle = { radius: whole(1, 10), label: optional(text) };
const figure = variants('form', { circle, path: { points: list(object({ x: finite, y: finite })), closed: flag } });
const short = textThat((value) => value.length < 3, 'must be short');

function reasonOf(shape: Shape<unknown>, value: unknown): string | undefined {
  return shape.problem(value, 'it');
}

describe('a shape', () => {
  it('accepts what it declares', () => {
    for (const value of [
      { form: 'circle', radius: 1 },
      { form: 'circle', radius: 10, label: 'c' },
      { form: 'circle', radius: 10, label: undefined },
      { form: 'path', points: [], closed: false },
      { form: 'path', points: [{ x: 0.5, y: -1 }], closed: true },
    ])
      assert.equal(reasonOf(figure, value), undefined, JSON.stringify(value));
    assert.equal(reasonOf(unchecked(), null), undefined);
  });

  it('refuses everything else and names the place', () => {
    const table: [Shape<unknown>, unknown, RegExp][] = [
      [figure, null, /^it must be an object/],
      [figure, [], /^it must be an object/],
      [figure, {}, /^it\.form must be one of circle,path/],
      [figure, { form: 'toString' }, /^it\.form must be one of/],
      [figure, { form: ['circle'], radius: 1 }, /^it\.form must be one of/],
      [figure, { form: 'circle' }, /^it\.radius must be a whole number from 1 to 10/],
      [figure, { form: 'circle', radius: 0 }, /^it\.radius/],
      [figure, { form: 'circle', radius: 1.5 }, /^it\.radius/],
      [figure, { form: 'circle', radius: '1' }, /^it\.radius/],
      [figure, { form: 'circle', radius: 1, label: null }, /^it\.label must be text/],
      [figure, { form: 'circle', radius: 1, more: 1 }, /^it has an unknown key "more"/],
      [figure, JSON.parse('{"form":"circle","radius":1,"__proto__":{}}'), /^it has an unknown key "__proto__"/],
      [figure, { form: 'path', points: {}, closed: true }, /^it\.points must be a list/],
      [figure, { form: 'path', points: [{ x: 0, y: 0 }, { x: 0 }], closed: true }, /^it\.points\[1\]\.y must be a number/],
      [figure, { form: 'path', points: [], closed: 1 }, /^it\.closed must be true or false/],
      [object(circle), 'text', /^it must be an object/],
      [oneOf('a', 'b'), 'c', /^it must be one of a,b/],
      [short, 'long', /^it must be short/],
      [short, 1, /^it must be short/],
      [finite, Number.NaN, /^it must be a number/],
    ];
    for (const [shape, value, reason] of table) assert.match(reasonOf(shape, value) ?? '', reason, JSON.stringify(value));
  });
});
