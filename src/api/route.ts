/**
 * Declares routes. A route's key in brace form is its only spelling: the router path, the validation, the `X-Route` header and the
 * calls between controller and compute derive from it and the schemas. Nothing here knows HTTP.
 */
import type { Readable } from 'node:stream';
import type { Static, TSchema } from '../schema/type.ts';
import type { Caller, Right } from './rights.ts';

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof methods)[number];
export type RouteKey = `${Method} /${string}`;

/** Parameter names of a key or template. */
export type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Bare<Name> | ParamNames<Rest>
  : never;
/** The name of a parameter without its regular expression. */
export type Bare<Name extends string> = Name extends `${infer N}:${string}` ? N : Name;
/** Path parameters of a key, percent-decoded. */
type PathOf<Key extends string> = Record<ParamNames<Key>, string>;

export interface Call<Key extends string = string, Body = unknown> {
  readonly path: PathOf<Key>;
  /** Validated against the route's body schema; query parameters are merged in (first value, as strings, query wins). */
  readonly body: Body;
  /** Query parameters as sent (first value of each). */
  readonly query: Readonly<Record<string, string>>;
  /** The unread request body; set on raw routes only. */
  readonly stream?: Readable;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Address the client used for this server (`Host` header), to build addresses for it. */
  readonly host?: string;
  /** The `User-Agent` header. */
  readonly userAgent?: string;
  /** The call comes from this process's controller, which logs the created objects before it answers its client. */
  readonly isInProcess?: boolean;
  /** The controller of this process makes the call for itself, not for a client. */
  readonly isOfController?: boolean;
  /** Identity of the client for limits: its address, or the first 64 bits of an IPv6 address. */
  readonly client?: string;
  /** The user of the login, where one is required. */
  readonly user?: string | undefined;
  /** The account of a request over HTTP, and its rights; absent for the server's own calls. */
  readonly caller?: Caller;
}

/** An answer that is not JSON text: its own content type, streamed or whole. */
export class Stream {
  readonly contentType: string;
  readonly source: Readable | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  constructor(contentType: string, source: Readable | Uint8Array, headers: Record<string, string> = {}) {
    this.contentType = contentType;
    this.source = source;
    this.headers = headers;
  }
}

/** An answer whose status is known only at run time (proxied answers), or that calls `sent` afterwards. */
export class Answer {
  readonly status: number;
  readonly body: unknown;
  /** Called when the answer was sent, or the client disconnected. */
  readonly sent: (() => void) | undefined;
  constructor(status: number, body?: unknown, sent?: () => void) {
    this.status = status;
    this.body = body;
    this.sent = sent;
  }
}

/** A JSON answer with an `ETag` of its text; a client that has the same text gets 304 without it. */
export class Tagged {
  readonly body: unknown;
  constructor(body: unknown) {
    this.body = body;
  }
}

/** The two directions of a WebSocket, without its library. */
export interface Socket {
  /**
   * Sends a message. With `sent`, which is called when the network has the data, the sender limits the queue; otherwise the
   * connection does, and ends when it is full.
   */
  send(data: string | Uint8Array, sent?: () => void): void;
  /** Bytes queued for a client that does not read. */
  readonly bufferedAmount: number;
  onMessage(listener: (data: Uint8Array, isBinary: boolean) => void): void;
  onClose(listener: () => void): void;
  close(code?: number, reason?: string): void;
}

interface RouteFacts<B extends TSchema | undefined, R extends TSchema | undefined> {
  readonly summary: string;
  /** Schema of the JSON body; undefined: body and query are ignored. */
  readonly body?: B;
  /** The body is an unlimited byte stream and is not parsed. `file`: it is a file, alone or in a form. */
  readonly raw?: true | 'file';
  /** A raw body may stand still when its client has nothing to send. */
  readonly mayPause?: true;
  /** The route writes large files and is refused while the disk has too little free space. Raw routes are always refused then. */
  readonly fillsDisk?: true;
  /** Success status; 204 answers have no body. Default 200. */
  readonly status?: number;
  readonly reply?: R;
  /** The answer has no body although its status is not 204. */
  readonly empty?: true;
  /** Content type of an answer that is not JSON. */
  readonly replyType?: string;
  /** Query parameters of routes without a body schema; the handler checks them. */
  readonly query?: Readonly<Record<string, TSchema>>;
  /** Patchbay's own route, not in the GNS3 API; `docs/api.md` explains it. */
  readonly own?: true;
}

export interface RouteSpec<B extends TSchema | undefined, R extends TSchema | undefined = TSchema | undefined>
  extends RouteFacts<B, R> {
  /** Right to send the request: a privilege (on the request's path, or `Privilege /path`), several, or a word. */
  readonly right: Right;
}

type BodyOf<B> = B extends TSchema ? Static<B> : unknown;

export interface Route {
  readonly key: RouteKey;
  readonly method: Method;
  /** Brace form, with the regular expressions of its parameters: the value of `X-Route`. */
  readonly template: string;
  readonly spec: RouteSpec<TSchema | undefined>;
  readonly handle: (call: Call) => unknown;
  /** Serves a WebSocket after the upgrade. `handle` runs before the upgrade and may refuse it. */
  readonly socket?: (call: Call, socket: Socket, accepted: unknown) => void;
}

/** A route whose type keeps its key and schemas, from which callers' types derive (`client.ts`). */
export interface TypedRoute<Key extends RouteKey, B extends TSchema | undefined, R extends TSchema | undefined> extends Route {
  readonly key: Key;
  readonly spec: RouteSpec<B, R>;
}

/**
 * Declares a route. The handler returns a JSON value, a `Tagged`, a `Stream`, an `Answer`, or nothing for an empty answer; it
 * throws faults.
 */
export function route<Key extends RouteKey, B extends TSchema | undefined = undefined, R extends TSchema | undefined = undefined>(
  key: Key,
  spec: RouteSpec<B, R>,
  handle: (call: Call<Key, BodyOf<B>>) => unknown,
): TypedRoute<Key, B, R> {
  const [method, template] = split(key);
  return { key, method, template, spec, handle: handle as Route['handle'] };
}

/** Declares a WebSocket route: `accept` runs before the upgrade and may throw a fault; `serve` gets what it returned. */
export function socketRoute<Key extends `GET /${string}`, Accepted>(
  key: Key,
  spec: RouteSpec<undefined, undefined>,
  accept: (call: Call<Key>) => Accepted | Promise<Accepted>,
  serve: (socket: Socket, accepted: Awaited<Accepted>, call: Call<Key>) => void,
): TypedRoute<Key, undefined, undefined> {
  const [method, template] = split(key);
  return {
    key,
    method,
    template,
    spec,
    handle: accept as Route['handle'],
    socket: (call, socket, accepted) => serve(socket, accepted as Awaited<Accepted>, call as Call<Key>),
  };
}

/** Declares a route of the compute's API. */
export function computeRoute<
  Key extends RouteKey,
  B extends TSchema | undefined = undefined,
  R extends TSchema | undefined = undefined,
>(key: Key, spec: RouteFacts<B, R>, handle: (call: Call<Key, BodyOf<B>>) => unknown): TypedRoute<Key, B, R> {
  return route<Key, B, R>(key, { ...spec, right: 'compute' }, handle);
}

/** Declares a WebSocket route of the compute's API. */
export function computeSocketRoute<Key extends `GET /${string}`, Accepted>(
  key: Key,
  spec: RouteFacts<undefined, undefined>,
  accept: (call: Call<Key>) => Accepted | Promise<Accepted>,
  serve: (socket: Socket, accepted: Awaited<Accepted>, call: Call<Key>) => void,
): TypedRoute<Key, undefined, undefined> {
  return socketRoute(key, { ...spec, right: 'compute' }, accept, serve);
}

function split(key: RouteKey): [Method, string] {
  const space = key.indexOf(' ');
  return [key.slice(0, space) as Method, key.slice(space + 1)];
}
