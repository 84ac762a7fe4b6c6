/**
 * Checks a request's body against its route's schema. Validators are made at first use, and the compiler that makes them is loaded
 * then: a server that starts answers before it needs either.
 */

import type { Validator } from 'typebox/schema';
import type { TSchema } from '../schema/type.ts';
import { fault } from './faults.ts';
import type { Route } from './route.ts';

const validators = new WeakMap<TSchema, Validator>();

/** Body of a request that was already parsed; query parameters are merged in by HTTP. @throws fault invalid_request */
export async function validateBody(route: Route, body: unknown): Promise<unknown> {
  if (route.spec.body) await checkValue(route.spec.body, body);
  return body;
}

/** @throws fault invalid_request, naming the first things that are wrong */
export async function checkValue(schema: TSchema, value: unknown): Promise<void> {
  const reason = await problemsOf(schema, value);
  if (reason !== undefined) throw fault('invalid_request', { reason });
}

const loosened = new WeakMap<TSchema, TSchema>();

/** The same for a reply of another program, which may have more keys than the schema: newer versions and GNS3 add some. */
export async function problemsOfReply(schema: TSchema, value: unknown): Promise<string | undefined> {
  return problemsOf(loose(schema), value);
}

/** As `problemsOfReply`, without words and at once when it is loaded. */
export async function replyCheck(schema: TSchema): Promise<(value: unknown) => boolean> {
  const validator = await validatorOf(loose(schema));
  return (value) => validator.Check(value);
}

function loose(schema: TSchema): TSchema {
  const known = loosened.get(schema) ?? withMoreKeys(schema);
  loosened.set(schema, known);
  return known;
}

function withMoreKeys(schema: TSchema): TSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => (key === 'additionalProperties' ? undefined : value));
}

/** What is wrong with a value, in words; undefined when nothing is. */
export async function problemsOf(schema: TSchema, value: unknown): Promise<string | undefined> {
  const validator = await validatorOf(schema);
  if (validator.Check(value)) return undefined;
  const budget = { left: mostExplained };
  const [, problems] = validator.Errors(excerpt(value, budget, 0));
  // What an excerpt lacks may be in what was left out.
  return explain(budget.left > 0 ? problems : problems.filter(({ keyword }) => keyword !== 'required'));
}

/** Takes some 50 ms once. `typebox/compile` would load twice as many modules, for values that are not JSON. */
export function loadCompiler(): Promise<typeof import('typebox/schema')> {
  return import('typebox/schema');
}

async function validatorOf(schema: TSchema): Promise<Validator> {
  const known = validators.get(schema);
  if (known) return known;
  const { Compile } = await loadCompiler();
  const validator = Compile(schema);
  validators.set(schema, validator);
  return validator;
}

/** Errors are looked for in so many values at most: that takes 2 µs for each, and a body of 1 MB may hold half a million. */
const mostExplained = 20_000;

/** Schemas describe a few levels; what is deeper is not looked at. */
const deepestExplained = 32;

/** The first values of a value, in its form: an array or object ends where `left` does. */
function excerpt(value: unknown, budget: { left: number }, depth: number): unknown {
  budget.left -= 1;
  if (typeof value !== 'object' || value === null || depth > deepestExplained) return value;
  const part: [string, unknown][] = [];
  for (const key in value) {
    if (budget.left <= 0) break;
    if (Object.hasOwn(value, key)) part.push([key, excerpt((value as Record<string, unknown>)[key], budget, depth + 1)]);
  }
  return Array.isArray(value) ? part.map(([, item]) => item) : Object.fromEntries(part);
}

interface ValidationProblem {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

/** One clause for each place that is wrong, three at the most. */
function explain(problems: ValidationProblem[]): string {
  const clauses = new Map<string, string>();
  for (const problem of problems) {
    const place = problem.instancePath.slice(1).replaceAll('/', '.');
    const clause = clauseFor(problem, place);
    if (clause && !clauses.has(place)) clauses.set(place, clause);
  }
  return [...clauses.values()].slice(0, 3).join('; ') || 'it does not have the form that is expected';
}

function clauseFor(problem: ValidationProblem, place: string): string | undefined {
  const subject = place === '' ? 'the body' : place;
  const params = problem.params as Record<string, unknown>;
  switch (problem.keyword) {
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
      return `${subject} ${problem.message}`;
  }
}

function list(values: unknown): string {
  return (Array.isArray(values) ? values : [])
    .slice(0, 40)
    .map((value) => JSON.stringify(value).slice(0, 80))
    .join(', ');
}
