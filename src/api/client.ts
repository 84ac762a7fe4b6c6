/**
 * The types of a client, derived from the routes it calls: `ApiOf` is a table from each route's key to what it takes and answers. Types
 * only: a caller needs no schema and nothing of the handlers.
 */
import type { Static, TSchema } from '../schema/type.ts';
import type { Bare, ParamNames, RouteKey, TypedRoute } from './route.ts';

/** `body` is unknown, and may be left out, where the route has no schema of it; `reply` is undefined where it answers with nothing. */
interface ApiEntry {
  readonly body: unknown;
  readonly reply: unknown;
}

type AnyRoute = TypedRoute<RouteKey, TSchema | undefined, TSchema | undefined>;

/** `{name:expression}` as `{name}`. */
type Plain<Key extends string> = Key extends `${infer Before}{${infer Parameter}}${infer After}`
  ? `${Before}{${Bare<Parameter>}}${Plain<After>}`
  : Key;

/** A body may be given with parts that are read only. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Given<T[Key]> }
    : T;

/** The API that a union of routes makes: they by their keys, without the regular expressions of parameters. */
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
  /** How long to wait for the answer, milliseconds; 0 waits for ever. Default 120,000. Not used in-process. */
  readonly timeoutMs?: number;
}

type PathPart<Name extends string> = [Name] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: Readonly<Record<Name, string | number>> };
type BodyPart<Body> = undefined extends Body
  ? { readonly body?: Body }
  : Record<never, never> extends Body
    ? { readonly body?: Body }
    : { readonly body: Body };

/** What a call gives: values of the key's parameters, not percent-encoded, and the body, where the route has them. */
export type ApiCall<A, K extends KeyOf<A>> = CallOptions & PathPart<ParamNames<K>> & BodyPart<BodyOfKey<A, K>>;
/** The arguments after the key; none are needed where nothing must be given. */
export type CallArguments<A, K extends KeyOf<A>> =
  Record<never, never> extends ApiCall<A, K> ? [call?: ApiCall<A, K>] : [call: ApiCall<A, K>];
