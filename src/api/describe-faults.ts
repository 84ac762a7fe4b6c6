/**
 * Describes in words where a value does not match its schema. The search runs in short turns and ends at the first few faults;
 * unknown keys are never walked. The validator's own error list visits every value and key (50,000 in a body) in one turn.
 */

import { Turns } from '../lib/turns.ts';
import type { TSchema } from '../schema/type.ts';

/** Most faults that are named. */
const mostClauses = 3;
/** Most unknown keys that are named for one object. */
const mostUnknownKeys = 5;
/** Most values of a part that is compared with several schemas. */
const mostExplained = 200;
/** Deepest level of such a part. */
const deepestExplained = 8;

type ValidatorFunctions = Pick<typeof import('typebox/schema'), 'Check' | 'Errors'>;

/** Schema keywords that the search follows. */
interface SearchedSchema {
  readonly type?: string;
  readonly anyOf?: readonly SearchedSchema[];
  readonly items?: SearchedSchema;
  readonly properties?: Readonly<Record<string, SearchedSchema>>;
  readonly patternProperties?: Readonly<Record<string, SearchedSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

interface ValidationProblem {
  readonly keyword: string;
  /** Names of keys and indices, joined by dots; empty for the value itself. */
  readonly place: string;
  readonly params: object;
  readonly message: string;
}

/** Describes the faults of a `value` that does not match `schema`: a clause for each of the first places. */
export async function describeFaults(validation: ValidatorFunctions, schema: TSchema, value: unknown): Promise<string> {
  const turns = new Turns();
  const clauses = new Map<string, string>();
  for (const problem of new FaultSearch(validation).walk(schema as SearchedSchema, value, '')) {
    if (turns.isOver) await turns.next();
    const clause = problem && clauseFor(problem);
    if (clause && !clauses.has(problem.place)) clauses.set(problem.place, clause);
    if (clauses.size >= mostClauses) break;
  }
  return [...clauses.values()].join('; ') || 'it does not have the form that is expected';
}

class FaultSearch {
  readonly #validation: ValidatorFunctions;

  constructor(validation: ValidatorFunctions) {
    this.#validation = validation;
  }

  /** Yields the faults of a value in order, and undefined in between, so that the caller can end the turn. */
  *walk(schema: SearchedSchema, value: unknown, place: string): Generator<ValidationProblem | undefined> {
    yield undefined;
    if (schema.anyOf) {
      const fitting = schema.anyOf.filter((option) => mayDescribe(option, value));
      if (fitting.length === 1) yield* this.walk(fitting[0] as SearchedSchema, value, place);
      else yield* this.#explain(schema, value, place);
    } else if (Array.isArray(value) && schema.items) {
      const { items, ...rest } = schema;
      yield* this.#explain(rest, value, place);
      for (const [index, item] of value.entries()) yield* this.walk(items, item, below(place, index));
    } else if (isObject(value) && (schema.properties || schema.patternProperties)) {
      yield* this.#walkObject(schema, value, place);
    } else {
      yield* this.#explain(schema, value, place);
    }
  }

  *#walkObject(schema: SearchedSchema, value: Record<string, unknown>, place: string): Generator<ValidationProblem | undefined> {
    const { properties = {}, patternProperties, required = [], additionalProperties, ...rest } = schema;
    // Only schemas of records have patterns, and a record's pattern matches every key.
    const [others] = Object.values(patternProperties ?? {});
    const unknown: string[] = [];
    if (others || additionalProperties === false) {
      for (const key in value) {
        if (Object.hasOwn(properties, key)) continue;
        if (others) yield* this.walk(others, value[key], below(place, key));
        else if (unknown.push(key) >= mostUnknownKeys) break;
      }
    }
    if (unknown.length > 0) yield problemAt(place, 'additionalProperties', { additionalProperties: unknown });
    yield* this.#explain(rest, value, place);
    for (const key in properties) {
      if (Object.hasOwn(value, key)) yield* this.walk(properties[key] as SearchedSchema, value[key], below(place, key));
    }
    const missing = required.filter((key) => !Object.hasOwn(value, key));
    if (missing.length > 0) yield problemAt(place, 'required', { requiredProperties: missing });
  }

  /** Yields the faults of a value without children, or of a value for which several schemas are possible. */
  *#explain(schema: SearchedSchema, value: unknown, place: string): Generator<ValidationProblem> {
    const { Check, Errors } = this.#validation;
    if (Check(schema as TSchema, value)) return;
    const [, errors] = Errors(schema as TSchema, excerpt(value, { left: mostExplained }));
    for (const { keyword, instancePath, params, message } of errors) {
      yield { keyword, place: place + (place === '' ? instancePath.slice(1) : instancePath).replaceAll('/', '.'), params, message };
    }
    if (errors.length === 0) yield problemAt(place, 'anyOf', {});
  }
}

const below = (place: string, key: string | number) => (place === '' ? `${key}` : `${place}.${key}`);
const problemAt = (place: string, keyword: string, params: object): ValidationProblem => ({ keyword, place, params, message: '' });

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the schema permits the value's type. */
function mayDescribe({ type, anyOf }: SearchedSchema, value: unknown): boolean {
  if (anyOf) return anyOf.some((option) => mayDescribe(option, value));
  switch (type) {
    case undefined:
      return true;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    case 'integer':
      return typeof value === 'number';
    default:
      return typeof value === type;
  }
}

/** Copies the first values of an array or object; the copy ends when `budget.left` is used up. */
function excerpt(value: unknown, budget: { left: number }, depth = 0): unknown {
  budget.left -= 1;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > deepestExplained) return Array.isArray(value) ? [] : {};
  const part: [string, unknown][] = [];
  for (const key in value) {
    if (budget.left <= 0) break;
    if (Object.hasOwn(value, key)) part.push([key, excerpt((value as Record<string, unknown>)[key], budget, depth + 1)]);
  }
  return Array.isArray(value) ? part.map(([, item]) => item) : Object.fromEntries(part);
}

function clauseFor({ keyword, place, params: given, message }: ValidationProblem): string | undefined {
  const subject = place === '' ? 'the body' : place;
  const params = given as Record<string, unknown>;
  switch (keyword) {
    case 'boolean':
      return undefined;
    case 'additionalProperties':
      return `${place ? `${place}: ` : ''}unknown key ${list(params.additionalProperties)}`;
    case 'required':
      return `${place ? `${place}: ` : ''}missing key ${list(params.requiredProperties)}`;
    case 'enum':
      return `${subject} must be one of ${list(params.allowedValues)}`;
    case 'pattern':
      return `${subject} does not have the expected form`;
    case 'anyOf':
      return `${subject} has a wrong type or value`;
    default:
      return `${subject} ${message}`;
  }
}

function list(values: unknown): string {
  return (Array.isArray(values) ? values : [])
    .slice(0, 40)
    .map((value) => JSON.stringify(value).slice(0, 80))
    .join(', ');
}
