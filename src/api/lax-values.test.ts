import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nullable, oneOf, Uuid } from '../schema/common.ts';
import { type TSchema, Type } from '../schema/type.ts';
import { readLax } from './lax-values.ts';
import { printFaults } from './python-text.ts';

const read = (schema: TSchema, value: unknown) => readLax(schema, value, ['body']);
const typesOf = (schema: TSchema, value: unknown) => read(schema, value).faults.map(({ type }) => type);

describe('values of neighbouring types', () => {
  it('are converted', () => {
    const cases: [TSchema, unknown, unknown][] = [
      [Type.Integer(), '110', 110],
      [Type.Integer(), 1.0, 1],
      [Type.Integer(), true, 1],
      [Type.Number(), ' 1.5 ', 1.5],
      [Type.Boolean(), 'YES', true],
      [Type.Boolean(), 0, false],
      [nullable(Type.Integer()), null, null],
      [Type.Union([Type.Number(), Type.String()]), '5', '5'],
      [Type.Union([Type.Number(), Type.String()]), 5, 5],
      [Uuid, '{0AB0FE27A2F041A98C2F1A6E1B2C3D4E}', '0ab0fe27-a2f0-41a9-8c2f-1a6e1b2c3d4e'],
    ];
    for (const [schema, value, expected] of cases) {
      const result = read(schema, value);
      assert.deepEqual([result.value, result.faults], [expected, []], JSON.stringify(value));
    }
  });

  it('are refused with the kind of the fault', () => {
    const cases: [TSchema, unknown, string][] = [
      [Type.Integer(), 1.5, 'int_from_float'],
      [Type.Integer(), 'x', 'int_parsing'],
      [Type.Integer(), [], 'int_type'],
      [Type.Integer({ minimum: 1 }), '0', 'greater_than_equal'],
      [Type.String(), 5, 'string_type'],
      [Type.String({ minLength: 2 }), 'a', 'string_too_short'],
      [Type.String({ maxLength: 2 }), 'abc', 'string_too_long'],
      [Type.String({ pattern: '^a$' }), 'b', 'string_pattern_mismatch'],
      [Type.Boolean(), 'perhaps', 'bool_parsing'],
      [Type.Boolean(), {}, 'bool_type'],
      [Type.Array(Type.Integer()), {}, 'list_type'],
      [oneOf(['a', 'b']), 'c', 'enum'],
      [Uuid, 'x', 'uuid_parsing'],
    ];
    for (const [schema, value, type] of cases) assert.deepEqual(typesOf(schema, value), [type], JSON.stringify(value));
  });
});

describe('an object', () => {
  const schema = Type.Object(
    { name: Type.String(), x: Type.Optional(Type.Integer()), list: Type.Optional(Type.Array(Type.Integer())) },
    { additionalProperties: false },
  );

  it('loses keys that are not known, and null stands for an absent key', () => {
    assert.deepEqual(read(schema, { name: 'n', x: null, other: 1 }).value, { name: 'n' });
    assert.deepEqual(read(schema, JSON.parse('{"name": "n", "__proto__": {"x": 1}}')).value, { name: 'n' });
  });

  it('has its faults at their places', () => {
    const { faults } = read(schema, { x: [], list: [1, 'b'] });
    const places = faults.map(({ type, loc }) => `${type} ${loc.join('.')}`);
    assert.deepEqual(places.sort(), ['int_parsing body.list.1', 'int_type body.x', 'missing body.name']);
    assert.deepEqual(typesOf(schema, 'text'), ['model_attributes_type']);
  });

  it('has no more faults listed than a reader reads', () => {
    const list = Array.from({ length: 5000 }, () => 'x');
    assert.ok(read(schema, { name: 'n', list }).faults.length <= 20);
  });
});

describe('the printed list of faults', () => {
  it('is a list of Python, without secrets', () => {
    const input = { password: 'secret', name: "it's", flag: true, nothing: null };
    const printed = printFaults([{ type: 'missing', loc: ['body', 'host'], msg: 'Field required', input }]);
    const shown = `{'password': '***', 'name': "it's", 'flag': True, 'nothing': None}`;
    assert.equal(printed, `[{'type': 'missing', 'loc': ('body', 'host'), 'msg': 'Field required', 'input': ${shown}}]`);
    const refused = printFaults([{ type: 'string_type', loc: ['body', 'password'], msg: 'm', input: 12_345 }]);
    assert.doesNotMatch(refused, /12345/);
  });

  it('stays short, and escapes what would end a text', () => {
    const input = ['a\\b\n\u0000', 'x'.repeat(10_000), { a: { b: { c: { d: 1 } } } }];
    const printed = printFaults([{ type: 't', loc: ['body'], msg: 'm', input }]);
    assert.ok(printed.length < 600, printed);
    assert.ok(printed.includes(String.raw`'a\\b\n\x00'`), printed);
    assert.ok(printed.includes('...'), printed);
  });
});
