/** Calls the compute of this process through its routes, without a socket: bodies are validated, faults are thrown unchanged. */
import { Readable } from 'node:stream';
import { hasMoreValues } from '../lib/json-depth.ts';
import { mapInTurns } from '../lib/turns.ts';
import type { Capabilities } from '../schema/compute.ts';
import type { Static, TSchema } from '../schema/type.ts';
import type { CallArguments, KeyOf, ReplyOfKey } from './client.ts';
import { fault } from './faults.ts';
import { ownAgent } from './own-agent.ts';
import { findRequester } from './requester.ts';
import { type Caller, requireRight } from './rights.ts';
import { Answer, type Call, type Method, type Route, type RouteKey, Stream, Tagged } from './route.ts';
import { type RouteMatch, RouteTable } from './route-table.ts';
import type { ComputeCall, ComputeEvent, Join, RawAnswer, Transport, TransportState } from './transport.ts';
import { uploadOf } from './upload.ts';
import { validateBody } from './validate.ts';

interface LocalTransportOptions {
  readonly routes: readonly Route[];
  readonly events: { subscribe(listener: (event: ComputeEvent) => void): () => void };
  readonly capabilities: Static<typeof Capabilities>;
  /** Calls of `raw` and `socket` have the rights of the current requester. */
  readonly isOnBehalf?: true;
}

/** Limits of parsed bodies, the same as over HTTP. */
const bodyLimitBytes = 1024 * 1024;
const mostValues = 50_000;
const userAgent = ownAgent('local');

export class LocalTransport<A> implements Transport<A> {
  readonly state: TransportState;
  readonly #routes = new Map<string, Route>();
  readonly #declared: readonly Route[];
  #table: RouteTable | undefined;
  readonly #events: LocalTransportOptions['events'];
  readonly #isOnBehalf: boolean;

  constructor(options: LocalTransportOptions) {
    this.state = Object.freeze({ connected: true, capabilities: options.capabilities, lastError: null });
    this.#events = options.events;
    this.#isOnBehalf = options.isOnBehalf ?? false;
    this.#declared = options.routes;
    for (const route of options.routes) if (!route.socket) this.#routes.set(withoutExpressions(route.key), route);
  }

  async connect(): Promise<void> {}

  /** Calls a route. The reply is not validated: a handler's type is that of its route. */
  async call<K extends KeyOf<A>>(key: K, ...[call]: CallArguments<A, K>): Promise<ReplyOfKey<A, K>> {
    return (await this.#call(key, call)) as ReplyOfKey<A, K>;
  }

  async send<K extends KeyOf<A>>(key: K, ...[call]: CallArguments<A, K>): Promise<void> {
    await this.#call(key, call);
  }

  async #call(key: RouteKey, { path = {}, body = {}, signal }: ComputeCall = {}): Promise<unknown> {
    const route = this.#routes.get(withoutExpressions(key));
    if (!route) throw fault('compute_route_missing', { request: requestOf(key, path) });
    const texts: Record<string, string> = {};
    for (const [name, value] of Object.entries(path)) texts[name] = String(value);
    return (await this.#handle(route, { path: texts, body, isInProcess: true, ...(signal && { signal }) })).body;
  }

  async raw(method: Method, path: string, body?: Readable | Uint8Array): Promise<RawAnswer> {
    const match = this.#find(method, path, { isSocket: false });
    const { route, params } = match;
    const caller = this.#callerOf(match);
    const who = caller && { caller };
    const answer = await this.#handle(
      route,
      route.spec.raw
        ? { ...who, path: params, body: {}, stream: route.spec.raw === 'file' ? uploadOf(streamOf(body)) : streamOf(body) }
        : { ...who, path: params, body: await parse(body) },
    );
    if (answer.body instanceof Stream) {
      const { contentType, source, headers } = answer.body;
      return { status: answer.status, headers: { ...headers, 'content-type': contentType }, body: source };
    }
    return { status: answer.status, headers: { 'content-type': 'application/json' }, body: await jsonOf(answer.body) };
  }

  /** Joins the client's own socket to the route directly. */
  async socket(path: string, signal: AbortSignal): Promise<Join> {
    const match = this.#find('GET', path, { isSocket: true });
    const { route, params } = match;
    const caller = this.#callerOf(match);
    const call: Call = { path: params, body: {}, query: {}, signal, userAgent, ...(caller && { caller }) };
    const accepted = await route.handle(call);
    return (client) => route.socket?.(call, client, accepted);
  }

  events(listener: (event: ComputeEvent) => void): () => void {
    return this.#events.subscribe(listener);
  }

  onState(): () => void {
    return () => undefined;
  }

  async close(): Promise<void> {}

  /** The account on whose behalf the route is called. @throws when it lacks the route's right */
  #callerOf(match: RouteMatch): Caller | undefined {
    const caller = this.#isOnBehalf ? findRequester()?.caller : undefined;
    if (caller) requireRight(match, caller);
    return caller;
  }

  /** @throws compute_route_missing */
  #find(method: Method, path: string, { isSocket }: { readonly isSocket: boolean }): RouteMatch {
    this.#table ??= new RouteTable(this.#declared);
    const found = this.#table.find(method, encoded(path));
    if (!found || isSocket !== (found.route.socket !== undefined))
      throw fault('compute_route_missing', { request: shorten(`${method} ${path}`) });
    return found;
  }

  async #handle(
    route: Route,
    given: Pick<Call, 'path' | 'body' | 'stream' | 'isInProcess' | 'caller'> & Partial<Pick<Call, 'signal'>>,
  ): Promise<{ status: number; body: unknown }> {
    if (!route.spec.raw) await validateBody(route, given.body);
    const call: Call = { signal: new AbortController().signal, ...given, query: {}, userAgent, isOfController: true };
    const value = await route.handle(call);
    if (value instanceof Answer) return { status: value.status, body: value.body };
    return { status: route.spec.status ?? 200, body: value instanceof Tagged ? value.body : value };
  }
}

/** Schemas of the routes' JSON replies, by key without regular expressions. */
export function replySchemas(routes: readonly Route[]): ReadonlyMap<string, TSchema> {
  const withReply = routes.filter(({ spec }) => spec.status !== 204 && spec.replyType === undefined);
  return new Map(withReply.flatMap(({ key, spec }) => (spec.reply ? [[withoutExpressions(key), spec.reply]] : [])));
}

/** Removes the expressions of a key's parameters: `{name:expression}` → `{name}`. */
function withoutExpressions(key: string): string {
  return key.replace(/\{(\w+):[^}]*\}/g, '{$1}');
}

/** Fills in the parameters of a key's path, percent-encoded. */
export function fill(key: RouteKey, path: Readonly<Record<string, string | number>>): string {
  const template = withoutExpressions(key.slice(key.indexOf(' ') + 1));
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name] ?? '')));
}

/** Formats a request for messages: method and path below `/v2/compute`. */
export function requestOf(key: RouteKey, path: Readonly<Record<string, string | number>>): string {
  return shorten(`${key.slice(0, key.indexOf(' '))} ${fill(key, path)}`);
}

function shorten(request: string): string {
  return request.replace(' /v2/compute/', ' /');
}

/** Percent-encodes a path, because the table decodes it. */
function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** Serializes a body; a long list is serialized in several turns. */
async function jsonOf(body: unknown): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (!Array.isArray(body)) return Buffer.from(JSON.stringify(body));
  const items = await mapInTurns(body, (item) => JSON.stringify(item) ?? 'null');
  return Buffer.from(`[${items.join()}]`);
}

function streamOf(body: Readable | Uint8Array | undefined): Readable {
  return body instanceof Readable ? body : Readable.from(body && body.length > 0 ? [Buffer.from(body)] : []);
}

async function parse(body: Readable | Uint8Array | undefined): Promise<unknown> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of streamOf(body)) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    if (bytes.length > bodyLimitBytes) throw fault('body_too_large', { limit: bodyLimitBytes });
  }
  if (bytes.length === 0) return {};
  if (hasMoreValues(bytes, mostValues)) throw fault('body_too_many_values', { limit: mostValues });
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw fault('malformed_json', { reason: (error as Error).message });
  }
}
