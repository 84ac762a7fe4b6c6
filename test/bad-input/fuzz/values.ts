/** Values from JSON schemas: valid, at the bounds, and corrupted. */
import { randomUUID } from 'node:crypto';
import type { Chance } from '../../durability/random.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

export interface ValueSource {
  readonly chance: Chance;
  readonly schemas: Readonly<Record<string, Schema>>;
  /** Meaningful values for a key of that name; undefined: values come from the schema. */
  hint(key: string): readonly unknown[] | undefined;
}

const deepest = 6;
const texts = [
  'a',
  'PC',
  'é🦀',
  'x y',
  '../../up',
  '-e',
  '{name}',
  '%s',
  '{0}',
  '__proto__',
  'a/b',
  '.',
  '<svg></svg>',
  '\'"\\',
  '\n',
  '​',
];
const spoiled = [
  null,
  '',
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  true,
  [],
  {},
  [[]],
  'x'.repeat(5000),
  'a\u0000b',
  '\ud800',
  [null],
  { a: null },
];

/** A value that the schema allows. */
export function valueFor(source: ValueSource, schema: Schema, key = '', depth = 0): unknown {
  const { chance, schemas } = source;
  if (schema.$ref) return valueFor(source, schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, key, depth);
  const hints = source.hint(key);
  if (hints?.length && chance.next() < 0.9) return chance.pick(hints);
  if (schema.anyOf) return valueFor(source, chance.pick(schema.anyOf) ?? {}, key, depth);
  if ('const' in schema) return schema.const;
  if (schema.enum) return chance.pick(schema.enum);
  switch (schema.type) {
    case 'object':
      return objectFor(source, schema, depth);
    case 'array': {
      const count = depth > deepest ? 0 : chance.between(0, Math.min(schema.maxItems ?? 3, 3));
      return Array.from({ length: count }, () => valueFor(source, schema.items ?? {}, key, depth + 1));
    }
    case 'string':
      return textFor(chance, schema);
    case 'integer':
    case 'number': {
      const { minimum = -1_000_000, maximum = 1_000_000 } = schema;
      const inside = [minimum, minimum + 1, maximum, maximum - 1, 0, 1, 2, 10, 100];
      return chance.pick(inside.filter((each) => each >= minimum && each <= maximum));
    }
    case 'boolean':
      return chance.next() < 0.5;
    case 'null':
      return null;
    default:
      return chance.pick<unknown>([null, 'a', 1, {}, [1, 2]]);
  }
}

function objectFor(source: ValueSource, schema: Schema, depth: number): Record<string, unknown> {
  const { chance } = source;
  const required = new Set(schema.required);
  const often = depth > deepest ? 0 : chance.pick([0.05, 0.2, 0.5]);
  const chosen = Object.entries(schema.properties ?? {}).filter(([key]) => required.has(key) || chance.next() < (often ?? 0));
  return Object.fromEntries(chosen.map(([key, each]) => [key, valueFor(source, each, key, depth + 1)]));
}

function textFor(chance: Chance, { pattern = '', minLength = 0, maxLength }: Schema): string {
  if (pattern.includes('{8}-')) return randomUUID();
  if (pattern.includes('[0-9a-fA-F]{2}:')) return `00:1${chance.between(0, 9)}:22:33:44:55`;
  const long = 'x'.repeat(Math.min(maxLength ?? 300, 4096));
  const text = chance.next() < 0.05 ? long : minLength === 0 && chance.next() < 0.1 ? '' : (chance.pick(texts) ?? 'a');
  return text.slice(0, maxLength ?? text.length);
}

/** A copy with one thing wrong, anywhere inside. */
export function spoil(chance: Chance, value: unknown): unknown {
  const isInside = typeof value === 'object' && value !== null && Object.keys(value).length > 0 && chance.next() < 0.85;
  if (!isInside) return chance.pick<unknown>(spoiled);
  const key = chance.pick(Object.keys(value)) ?? '';
  if (Array.isArray(value)) {
    const at = Number(key);
    return chance.next() < 0.2 ? [...value, value[at]] : value.with(at, spoil(chance, value[at]));
  }
  const inner = value as Record<string, unknown>;
  if (chance.next() < 0.15) return Object.fromEntries(Object.entries(inner).filter(([each]) => each !== key));
  if (chance.next() < 0.1) return { ...inner, unknown_key: 1 };
  return { ...inner, [key]: spoil(chance, inner[key]) };
}
