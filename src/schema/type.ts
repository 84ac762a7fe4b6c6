/**
 * Builds schemas as plain JSON Schema, with typebox's own types: the part of typebox's builder that is used here. Loading typebox
 * takes 370 modules and a third of the server's start; its validator is loaded when the first request needs it (ADR 7).
 */
import type { Type as Builder } from 'typebox';

type Schema = Record<string, unknown>;

/** Marks optional properties; not part of the schema's text. */
const optional = Symbol('optional');

function isOptional(schema: Schema): boolean {
  return optional in schema;
}

const plain = {
  Array: (items: Schema, options: Schema = {}): Schema => ({ ...options, type: 'array', items }),
  Boolean: (options: Schema = {}): Schema => ({ ...options, type: 'boolean' }),
  /** Integers above the limits would come back rounded, or in a form that clients do not read as whole. */
  Integer: (options: Schema = {}): Schema => {
    return { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...options, type: 'integer' };
  },
  Literal: (value: string | number | boolean, options: Schema = {}): Schema => ({ ...options, type: typeof value, const: value }),
  Null: (options: Schema = {}): Schema => ({ ...options, type: 'null' }),
  Number: (options: Schema = {}): Schema => ({ ...options, type: 'number' }),
  Object: (properties: Record<string, Schema>, options: Schema = {}): Schema => ({
    ...options,
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !isOptional(properties[name] as Schema)),
  }),
  Optional: (schema: Schema): Schema => Object.defineProperty({ ...schema }, optional, { value: true }),
  /** Keys may be any text. */
  Record: (_key: Schema, values: Schema, options: Schema = {}): Schema => ({
    ...options,
    type: 'object',
    patternProperties: { '^.*$': values },
  }),
  String: (options: Schema = {}): Schema => ({ ...options, type: 'string' }),
  Union: (anyOf: Schema[], options: Schema = {}): Schema => ({ ...options, anyOf }),
  Unknown: (options: Schema = {}): Schema => ({ ...options }),
  /** Returns the schema unchanged, with a type of the caller's choice. */
  Unsafe: (schema: Schema): Schema => ({ ...schema }),
};

export const Type = plain as unknown as Pick<typeof Builder, keyof typeof plain>;
export type { Static, TSchema } from 'typebox';
