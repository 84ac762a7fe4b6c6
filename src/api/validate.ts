/**
 * Validates a request's body against its route's schema. The compiler is loaded and validators are made on first use, because a
 * starting server answers requests that need neither.
 */

import type { Validator } from 'typebox/schema';
import type { TSchema } from '../schema/type.ts';
import { describeFaults } from './describe-faults.ts';
import { fault } from './faults.ts';
import type { Route } from './route.ts';

const validators = new WeakMap<TSchema, Validator>();

/** Validates a parsed body; HTTP has merged the query parameters into it. @throws fault invalid_request */
export async function validateBody(route: Route, body: unknown): Promise<unknown> {
  if (route.spec.body) await checkValue(route.spec.body, body);
  return body;
}

/** Validates a value. @throws fault invalid_request, naming the first faults */
export async function checkValue(schema: TSchema, value: unknown): Promise<void> {
  const reason = await problemsOf(schema, value);
  if (reason !== undefined) throw fault('invalid_request', { reason });
}

const loosened = new WeakMap<TSchema, TSchema>();

/** Describes the faults of another program's reply, which may have extra keys: newer versions and GNS3 add some. */
export async function problemsOfReply(schema: TSchema, value: unknown): Promise<string | undefined> {
  return problemsOf(loose(schema), value);
}

/** Returns a synchronous check for replies, without a description. */
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

/** Describes the faults of a value; undefined: the value matches. */
export async function problemsOf(schema: TSchema, value: unknown): Promise<string | undefined> {
  const validator = await validatorOf(schema);
  return validator.Check(value) ? undefined : describeFaults(await loadCompiler(), schema, value);
}

/** Makes the validators of routes before they are needed, each in a turn of its own: one takes up to 5 ms. */
export async function prepareValidators(routes: Iterable<Route>): Promise<void> {
  for (const { spec } of routes) {
    if (!spec.body || validators.has(spec.body)) continue;
    await validatorOf(spec.body);
    await new Promise(setImmediate);
  }
}

/**
 * Loads the compiler, which takes some 50 ms once. `typebox/compile` would load twice as many modules, for values that are not
 * JSON.
 */
function loadCompiler(): Promise<typeof import('typebox/schema')> {
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
