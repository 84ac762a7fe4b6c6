/**
 * Requests that look for a gap between the checks of a server: hosts and origins, upgrades, tickets and credentials in any
 * combination, over all routes. Generated from a seed; each knows the expected class of response.
 */

import { faultRows } from '../../../src/api/faults.ts';
import { ask, type BareReply, requestText, upgrade } from '../../support/raw-socket.ts';
import type { Operation } from '../fuzz/operations.ts';
import { spoil, valueFor } from '../fuzz/values.ts';
import type { World } from '../fuzz/world.ts';
import type { Bait } from './bait.ts';
import { hostileText } from './project-files.ts';

export interface AttackTarget {
  readonly port: number;
  /** The `Authorization` header that is right; absent: the server asks for none. */
  readonly authorization?: string;
  /** Address of the attacker: one that guesses often is answered late. */
  readonly from?: string;
  /** A name of `allowed_hosts`, and an origin of `allowed_origins`. */
  readonly allowed: { readonly host: string; readonly origin: string };
}

type TicketKind = 'none' | 'garbage' | 'any' | 'for this path' | 'for another path' | 'used';
const ticketKinds: readonly TicketKind[] = ['none', 'none', 'garbage', 'any', 'for this path', 'for another path', 'used'];

/**
 * `admitted`: the checks pass, and any response of the route is right; `socket`: it becomes a WebSocket, if the route accepts it;
 * `open`: as `admitted`, and the route itself may refuse a login; `token needed`: it is of `/v3`, whose clients send no other login;
 * `refused`: by the secret of a slice that the body must have, or by a check before.
 */
export type AttackOutcome =
  | 'host refused'
  | 'origin refused'
  | 'unauthorized'
  | 'token needed'
  | 'open'
  | 'admitted'
  | 'socket'
  | 'refused';

/** Slices, readers of images, and a first administrator ask by any name of the server, and prove themselves by their secret. */
const haveOwnCredentials = [
  '/v3/access/setup',
  '/v2/slices/join',
  '/v2/slices/{compute_id}/lease',
  '/v2/compute/image_departures/{departure_id}/bytes',
];

/** Routes that need no login. */
const open = [
  'GET /setup',
  'GET /v3/version',
  'POST /v3/version',
  'POST /v3/access/users/login',
  'POST /v3/access/users/authenticate',
  'POST /v3/access/users/refresh',
];

/** Routes about the account of the login, which a server without `auth` has of those only who logged in nevertheless. */
const ofOwnAccount = /^(POST \/v3\/access\/users\/logout|\w+ \/v3\/access\/users\/me(\/.*)?)$/;

export interface HttpAttack {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly ticket: TicketKind;
  readonly expected: AttackOutcome;
}

/** Material of an attack: `world` knows the ids of the server. */
export interface AttackGround {
  readonly world: World;
  readonly operations: readonly Operation[];
  readonly bait: Bait;
}

const evil = 'evil.example';

export function httpAttack(ground: AttackGround, target: AttackTarget): HttpAttack {
  const { chance } = ground.world;
  const pick = <T>(list: readonly T[]): T => chance.pick(list) as T;
  const sockets = chance.next() < 0.4;
  const operation = pick(ground.operations.filter(({ path }) => isOfSocket(path) || !sockets));
  const isSocketRoute = isOfSocket(operation.path);
  const method = chance.next() < 0.8 ? operation.method : pick(['GET', 'POST', 'PUT', 'DELETE']);
  const path = pathOf(ground, operation);
  const host = pick([
    `127.0.0.1:${target.port}`,
    `localhost:${target.port}`,
    '[::1]',
    target.allowed.host,
    `${evil}:${target.port}`,
    `127.0.0.1.${evil}`,
    'localhost@evil.example',
    '',
  ]);
  const origin = pick([undefined, undefined, `http://${host}`, `https://${host}`, target.allowed.origin, `http://${evil}`, 'null']);
  const upgrading = pick([
    {},
    {},
    upgrade,
    upgrade,
    { Upgrade: 'websocket' },
    { ...upgrade, Upgrade: 'WebSocket' },
    { ...upgrade, Upgrade: 'h2c' },
  ]);
  const authorization = chance.next() < 0.5 ? undefined : pick(authorizations(target.authorization ?? `Basic ${base64('a:b')}`));
  const ticket = chance.next() < (isSocketRoute ? 1 : 0.5) ? pick(ticketKinds) : 'none';
  const headers = {
    Host: host,
    ...(origin !== undefined && { Origin: origin }),
    ...upgrading,
    ...(authorization !== undefined && { Authorization: authorization }),
  };
  const body = bodyOf(ground, operation);
  const attack = { method, path, headers, body, ticket };
  if (method === 'POST' && haveOwnCredentials.includes(operation.path)) return { ...attack, expected: 'refused' };
  const kind = { isSocketRoute: isSocketRoute && method === 'GET', isOpen: mayRefuse(`${method} ${operation.path}`, target) };
  return { ...attack, expected: expectedOf(attack, target, kind) };
}

function mayRefuse(operation: string, { authorization }: AttackTarget): boolean {
  return open.includes(operation) || (authorization === undefined && ofOwnAccount.test(operation));
}

/** Makes a path of a route with ids that exist, mostly; in some a part is replaced by hostile text. */
function pathOf({ world, bait }: AttackGround, { method, path }: Operation): string {
  if (world.chance.next() < 0.7) return world.fill(method, path);
  const hostile = () => encodeURIComponent(hostileText(world.chance, bait).toWellFormed().slice(0, 1_000));
  return path.replace(/\{[^}]*\}/g, () => (world.chance.next() < 0.5 ? hostile() : (world.chance.pick(['x', '1']) ?? '')));
}

/** Follows the schema, mostly with a hostile text somewhere. */
function bodyOf({ world, bait }: AttackGround, { body }: Operation): unknown {
  const { chance } = world;
  const good = body ? valueFor(world, body) : {};
  if (typeof good !== 'object' || good === null || chance.next() < 0.2) return good;
  if (chance.next() < 0.3) return spoil(chance, good);
  const names = Object.keys(body?.properties ?? { x: 1 });
  return { ...good, [chance.pick(names) ?? 'x']: hostileText(chance, bait).slice(0, 20_000) };
}

/** Right ones in other spellings, and wrong ones; few of those, as further guesses would be slowed down. */
function authorizations(right: string): string[] {
  const token = right.slice('Basic '.length);
  return [
    right,
    right,
    `basic ${token}`,
    `BASIC ${token}`,
    `Bearer ${token}`,
    `Basic ${token.slice(0, -4)}`,
    `Basic ${base64(':')}`,
    'Basic',
  ];
}

/** Whether a route is that of a WebSocket. */
const isOfSocket = (path: string): boolean => /\/(ws|vnc)$/.test(path);

function expectedOf(
  { method, path, headers, ticket }: Omit<HttpAttack, 'expected'>,
  { authorization, allowed }: AttackTarget,
  { isSocketRoute, isOpen }: { isSocketRoute: boolean; isOpen: boolean },
): AttackOutcome {
  const given: Readonly<Record<string, string | undefined>> = headers;
  const isKnown = /^(127\.0\.0\.1|localhost)(:\d+)?$|^\[::1\]$/.test(given.Host ?? '') || given.Host === allowed.host;
  if (authorization === undefined && !isKnown) return 'host refused';
  const changes = method !== 'GET' || given.Upgrade !== undefined;
  const isOwn = given.Origin === `http://${given.Host}` || given.Origin === `https://${given.Host}`;
  if (given.Origin !== undefined && changes && given.Origin !== allowed.origin && !isOwn) return 'origin refused';
  const asksForSocket = isSocketRoute && given.Upgrade?.toLowerCase() === 'websocket';
  if (isOpen) return 'open';
  if (authorization !== undefined) {
    const isRight = given.Authorization?.replace(/^basic /i, 'Basic ') === authorization;
    const hasTicket = given.Authorization === undefined && asksForSocket && (ticket === 'any' || ticket === 'for this path');
    // No route has such parts: whether a ticket for the path counts is no matter.
    if (!isRight && hasTicket && /\/(?:\/|\.\.?(?:\/|$))/.test(path)) return 'refused';
    // No route has an empty part.
    if (!isRight && !hasTicket) return asksForSocket && /^\/v3\/(?!.*\/\/)/.test(path) ? 'token needed' : 'unauthorized';
  }
  return asksForSocket && given.Connection === 'Upgrade' ? 'socket' : 'admitted';
}

/** Sends it. @returns the defect of the response; undefined when it has none */
export async function playHttpAttack(target: AttackTarget, attack: HttpAttack): Promise<string | undefined> {
  const ticket = await ticketOf(target, attack);
  const line = `${attack.method} ${attack.path}${ticket === undefined ? '' : `?ticket=${ticket}`}`;
  const body = attack.method === 'GET' ? undefined : attack.body;
  const reply = await ask(target.port, requestText(line, attack.headers, body), target);
  const problem = problemOf(reply, attack.expected);
  return (
    problem &&
    `${problem} instead of "${attack.expected}": ${JSON.stringify(attack).slice(0, 2_000)}: ${reply.status} ${reply.body.slice(0, 300)}`
  );
}

function problemOf({ status, body, headers }: BareReply, expected: AttackOutcome): string | undefined {
  const wasRefused = /is not known as|may not use this server/.test(body);
  switch (expected) {
    case 'host refused':
      return status === 403 && /is not known as/.test(body) ? undefined : 'another answer';
    case 'origin refused':
      return status === 403 && /may not use this server/.test(body) ? undefined : 'another answer';
    case 'unauthorized':
      return status === 401 && headers.has('www-authenticate') ? undefined : 'another answer';
    case 'token needed':
      return status === 403 && /A token is needed/.test(body) ? undefined : 'another answer';
    case 'open':
      return status >= 200 && isDeclared(status) && !wasRefused ? undefined : 'a refusal or a failure';
    case 'refused':
      return status >= 400 && isDeclared(status) ? undefined : 'another answer';
    case 'socket':
      if (status === 101) return undefined;
      return status >= 400 && isDeclared(status) && status !== 401 && !wasRefused ? undefined : 'another refusal';
    case 'admitted':
      if (status === 101) return 'an upgrade';
      return status >= 200 && isDeclared(status) && status !== 401 && !wasRefused ? undefined : 'a refusal or a failure';
  }
}

/** 500 is a bug; 405 and 414 are the HTTP layer's own, and 422 is that of invalid requests in `/v3`. */
const refusals = new Set([...faultRows().map(({ status }) => status), 405, 414, 422].filter((status) => status !== 500));
const isDeclared = (status: number) => status < 400 || refusals.has(status);

async function ticketOf(target: AttackTarget, { ticket, path }: HttpAttack): Promise<string | undefined> {
  if (ticket === 'none') return undefined;
  if (ticket === 'garbage') return base64('no ticket');
  const wanted = {
    any: { path },
    used: { path: '/v2/notifications/ws' },
    'for this path': { path },
    'for another path': { path: `${path}/other` },
  }[ticket];
  const common = { Host: '127.0.0.1', ...(target.authorization !== undefined && { Authorization: target.authorization }) };
  const issued = await ask(target.port, requestText('POST /v2/tickets', common, wanted), target);
  const { ticket: text } = JSON.parse(issued.body) as { ticket: string };
  // The second use must not work.
  if (ticket === 'used')
    await ask(target.port, requestText(`GET /v2/notifications/ws?ticket=${text}`, { ...upgrade, Host: '127.0.0.1' }), target);
  return text;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
