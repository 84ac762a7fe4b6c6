/**
 * Checks a request's body against its route's schema. Validators are made at first use, and the compiler that makes them is loaded
 * then: a server that starts answers before it needs either.
 */

import type { Validator } from 'typebox/schema';
import type { TSchema } from '../schema/type.ts';
import { describeFaults } from './describe-faults.ts';
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
  return validator.Check(value) ? undefined : describeFaults(await loadCompiler(), schema, value);
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
