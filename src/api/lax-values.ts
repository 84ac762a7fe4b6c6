/**
 * Reads JSON values and query texts by a schema as GNS3 3.x's server does: a number may be a text, a truth value a word, keys that are
 * not known are dropped, and `null` stands for an absent key. What does not match is listed with its place, as that server's clients
 * expect it.
 */
import type { TSchema } from '../schema/type.ts';

/** A value that does not match its schema. */
export interface ValueFault {
  /** Word for programs, such as `missing` or `int_parsing`. */
  readonly type: string;
  /** Keys and indices from the part of the request to the value. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
}

interface LaxValue {
  readonly value: unknown;
  /** Empty when the value matches. */
  readonly faults: readonly ValueFault[];
}

type ValuePlace = ValueFault['loc'];

interface TextKeywords {
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface NumberKeywords {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface ListKeywords {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: ReadSchema;
}

interface ObjectKeywords {
  readonly properties?: Readonly<Record<string, ReadSchema>>;
  readonly patternProperties?: Readonly<Record<string, ReadSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/** Schema keywords that are read. */
interface ReadSchema extends TextKeywords, NumberKeywords, ListKeywords, ObjectKeywords {
  readonly anyOf?: readonly ReadSchema[];
  readonly const?: unknown;
}

/** Most faults that are listed. */
const mostFaults = 20;

/** Reads a value that stands at `place` of the request, such as `['body']`. */
export function readLax(schema: TSchema, value: unknown, place: ValuePlace): LaxValue {
  const reader = new LaxReader();
  return { value: reader.read(schema as ReadSchema, value, place), faults: reader.faults };
}

class LaxReader {
  readonly faults: ValueFault[] = [];

  read(schema: ReadSchema, value: unknown, place: ValuePlace): unknown {
    if (schema.anyOf) return this.#readAlternatives(schema.anyOf, value, place);
    if (schema.const !== undefined) return this.#readChoice([schema.const], value, place);
    switch (schema.type) {
      case 'string':
        return this.#readText(schema, value, place);
      case 'integer':
      case 'number':
        return this.#readNumber(schema, value, place);
      case 'boolean':
        return this.#readBoolean(value, place);
      case 'array':
        return this.#readList(schema, value, place);
      case 'object':
        return this.#readObject(schema, value, place);
      case 'null':
        return value === null ? value : this.#refuse('none_required', 'Input should be None', { input: value, place });
      default:
        return value;
    }
  }

  #refuse(type: string, msg: string, { input, place }: { readonly input: unknown; readonly place: ValuePlace }): unknown {
    if (this.faults.length < mostFaults) this.faults.push({ type, loc: place, msg, input });
    return input;
  }

  /** Prefers the alternative of the value's own type to one into which it can be converted. */
  #readAlternatives(all: readonly ReadSchema[], value: unknown, place: ValuePlace): unknown {
    if (value === null && all.some(({ type }) => type === 'null')) return null;
    const others = all.filter(({ type }) => type !== 'null');
    const ordered = [...others.filter((one) => isOfType(one, value)), ...others.filter((one) => !isOfType(one, value))];
    let first: LaxReader | undefined;
    for (const one of ordered) {
      const reader = new LaxReader();
      const read = reader.read(one, value, place);
      if (reader.faults.length === 0) return read;
      first ??= reader;
    }
    this.faults.push(...(first?.faults ?? []).slice(0, mostFaults - this.faults.length));
    return value;
  }

  #readChoice(choices: readonly unknown[], input: unknown, place: ValuePlace): unknown {
    if (choices.includes(input)) return input;
    const words = choices.map((one) => (typeof one === 'string' ? `'${one}'` : String(one)));
    const last = words.pop() ?? '';
    const list = words.length > 0 ? `${words.join(', ')} or ${last}` : last;
    return this.#refuse('enum', `Input should be ${list}`, { input, place });
  }

  #readText(schema: TextKeywords, input: unknown, place: ValuePlace): unknown {
    const at = { input, place };
    if (schema.enum) return this.#readChoice(schema.enum, input, place);
    if (typeof input !== 'string') return this.#refuse('string_type', 'Input should be a valid string', at);
    if (schema.pattern === uuidPattern) {
      return uuidOf(input) ?? this.#refuse('uuid_parsing', 'Input should be a valid UUID', at);
    }
    const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
    const length = input.length <= Math.min(minLength, maxLength) ? [...input].length : input.length;
    if (length < minLength)
      return this.#refuse('string_too_short', `String should have at least ${count(minLength, 'character')}`, at);
    if (length > maxLength)
      return this.#refuse('string_too_long', `String should have at most ${count(maxLength, 'character')}`, at);
    if (pattern !== undefined && !new RegExp(pattern, 'u').test(input))
      return this.#refuse('string_pattern_mismatch', `String should match pattern '${pattern}'`, at);
    return input;
  }

  #readNumber({ type, minimum, maximum }: NumberKeywords, input: unknown, place: ValuePlace): unknown {
    const at = { input, place };
    const name = type === 'integer' ? 'int' : 'float';
    const noun = type === 'integer' ? 'integer' : 'number';
    const number = numberOf(input);
    if (number === undefined) {
      return typeof input === 'string'
        ? this.#refuse(`${name}_parsing`, `Input should be a valid ${noun}, unable to parse string as ${article(noun)}`, at)
        : this.#refuse(`${name}_type`, `Input should be a valid ${noun}`, at);
    }
    if (type === 'integer' && !Number.isInteger(number)) {
      return typeof input === 'string'
        ? this.#refuse('int_parsing', 'Input should be a valid integer, unable to parse string as an integer', at)
        : this.#refuse('int_from_float', 'Input should be a valid integer, got a number with a fractional part', at);
    }
    if (minimum !== undefined && number < minimum)
      return this.#refuse('greater_than_equal', `Input should be greater than or equal to ${minimum}`, at);
    if (maximum !== undefined && number > maximum)
      return this.#refuse('less_than_equal', `Input should be less than or equal to ${maximum}`, at);
    return number;
  }

  #readBoolean(input: unknown, place: ValuePlace): unknown {
    if (typeof input === 'boolean') return input;
    const word = typeof input === 'string' ? input.trim().toLowerCase() : input;
    if (trueWords.has(word)) return true;
    if (falseWords.has(word)) return false;
    return typeof input === 'string' || typeof input === 'number'
      ? this.#refuse('bool_parsing', 'Input should be a valid boolean, unable to interpret input', { input, place })
      : this.#refuse('bool_type', 'Input should be a valid boolean', { input, place });
  }

  #readList(
    { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: ListKeywords,
    input: unknown,
    place: ValuePlace,
  ): unknown {
    const at = { input, place };
    if (!Array.isArray(input)) return this.#refuse('list_type', 'Input should be a valid list', at);
    if (input.length < minItems)
      return this.#refuse('too_short', `List should have at least ${count(minItems, 'item')} after validation`, at);
    if (input.length > maxItems)
      return this.#refuse('too_long', `List should have at most ${count(maxItems, 'item')} after validation`, at);
    return items ? input.map((item, index) => this.read(items, item, [...place, index])) : input;
  }

  #readObject(schema: ObjectKeywords, input: unknown, place: ValuePlace): unknown {
    const { properties, patternProperties, required = [], additionalProperties } = schema;
    if (!isObject(input)) {
      return properties
        ? this.#refuse('model_attributes_type', 'Input should be a valid dictionary or object to extract fields from', {
            input,
            place,
          })
        : this.#refuse('dict_type', 'Input should be a valid dictionary', { input, place });
    }
    const [others] = Object.values(patternProperties ?? {});
    const read: [string, unknown][] = [];
    for (const [key, value] of Object.entries(input)) {
      const declared = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
      const isAbsent = declared !== undefined && value === null && !required.includes(key) && !mayBeNull(declared);
      if (isAbsent) continue;
      if (declared) read.push([key, this.read(declared, value, [...place, key])]);
      else if (others) read.push([key, this.read(others, value, [...place, key])]);
      else if (additionalProperties !== false) read.push([key, value]);
    }
    for (const key of required)
      if (!Object.hasOwn(input, key)) this.#refuse('missing', 'Field required', { input, place: [...place, key] });
    return Object.fromEntries(read);
  }
}

const uuidPattern = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

/** Returns a UUID in its usual form; undefined for a text that is none. Hyphens, braces and `urn:uuid:` are optional. */
export function uuidOf(text: string): string | undefined {
  const digits = text
    .replace(/^urn:uuid:/i, '')
    .replace(/^\{(.*)\}$/, '$1')
    .replaceAll('-', '')
    .toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(digits)) return undefined;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const trueWords: ReadonlySet<unknown> = new Set([1, '1', 'on', 't', 'true', 'y', 'yes']);
const falseWords: ReadonlySet<unknown> = new Set([0, '0', 'off', 'f', 'false', 'n', 'no']);

function numberOf(input: unknown): number | undefined {
  if (typeof input === 'number') return input;
  if (typeof input === 'boolean') return Number(input);
  if (typeof input !== 'string' || !/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(input)) return undefined;
  return Number(input);
}

/** Whether the schema permits the value without a conversion. */
function isOfType({ type }: ReadSchema, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function mayBeNull({ type, anyOf, const: only, enum: words }: ReadSchema): boolean {
  if (anyOf) return anyOf.some(mayBeNull);
  return type === 'null' || (type === undefined && only === undefined && words === undefined);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
const article = (noun: string) => (noun === 'integer' ? 'an integer' : `a ${noun}`);
