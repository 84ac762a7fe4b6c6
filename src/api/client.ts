/**
 * Derives the types of a client from the routes it calls: `ApiOf` maps each route's key to its parameters, body and reply. Types
 * only: a caller needs neither schemas nor handlers.
 */
import type { Static, TSchema } from '../schema/type.ts';
import type { Bare, ParamNames, RouteKey, TypedRoute } from './route.ts';

/**
 * Types of one route. `body` is unknown and optional where the route has no schema for it; `reply` is undefined where the answer is
 * empty.
 */
interface ApiEntry {
  readonly body: unknown;
  readonly reply: unknown;
}

type AnyRoute = TypedRoute<RouteKey, TSchema | undefined, TSchema | undefined>;

/** Removes the expressions of a key's parameters: `{name:expression}` → `{name}`. */
type Plain<Key extends string> = Key extends `${infer Before}{${infer Parameter}}${infer After}`
  ? `${Before}{${Bare<Parameter>}}${Plain<After>}`
  : Key;

/** Makes a body's type read-only, so that callers may pass read-only values. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Given<T[Key]> }
    : T;

/** The API of a union of routes: entries by key, without the regular expressions of parameters. */
export type ApiOf<R extends AnyRoute> = {
  readonly [One in R as Plain<One['key']>]: {
    readonly body: One['spec'] extends { readonly body?: infer B extends TSchema } ? Given<Static<B>> : unknown;
    readonly reply: One['spec'] extends { readonly reply?: infer A extends TSchema } ? Static<A> : undefined;
  };
};

export type KeyOf<A> = keyof A & RouteKey;
type BodyOfKey<A, K extends KeyOf<A>> = A[K] extends ApiEntry ? A[K]['body'] : never;
export type ReplyOfKey<A, K extends KeyOf<A>> = A[K] extends ApiEntry ? A[K]['reply'] : never;

interface CallOptions {
  /** Time limit of the answer, milliseconds; 0 waits for ever. Default 120,000. Not used in-process. */
  readonly timeoutMs?: number;
  /** Ends the request while it has no answer; only with a `timeoutMs` of 0. */
  readonly signal?: AbortSignal;
}

type PathPart<Name extends string> = [Name] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: Readonly<Record<Name, string | number>> };
type BodyPart<Body> = undefined extends Body
  ? { readonly body?: Body }
  : Record<never, never> extends Body
    ? { readonly body?: Body }
    : { readonly body: Body };

/** Argument of a call: the values of the key's parameters, not percent-encoded, and the body, where the route has them. */
export type ApiCall<A, K extends KeyOf<A>> = CallOptions & PathPart<ParamNames<K>> & BodyPart<BodyOfKey<A, K>>;
/** Arguments after the key; optional where the route requires none. */
export type CallArguments<A, K extends KeyOf<A>> =
  Record<never, never> extends ApiCall<A, K> ? [call?: ApiCall<A, K>] : [call: ApiCall<A, K>];
