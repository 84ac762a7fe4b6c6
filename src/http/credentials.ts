/**
 * Authenticates requests and checks their rights: HTTP Basic, a token, the session of a browser, or the ticket of a WebSocket. The order is
 * login, right, and only then body and parameters, so that a refusal says nothing about what exists.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fault, isFault } from '../api/faults.ts';
import { findRequester, type Requester } from '../api/requester.ts';
import { type Authenticator, type Caller, findLacking, requireRight, rightOf, unrestricted } from '../api/rights.ts';
import type { RouteMatch } from '../api/route-table.ts';
import type { Tickets } from '../api/tickets.ts';
import type { IsKnownHost } from '../lib/known-hosts.ts';
import { refuseUnknownHost } from './access.ts';
import { clientOf } from './client-address.ts';
import { declaredRoute, matchOf } from './declared-routes.ts';
import { addLogin, type CheckLogin, findSession, refuse } from './login.ts';
import { Sessions } from './sessions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The account of the request. */
    caller?: Caller;
    /** Requester of the handler's changes. */
    requester?: Requester;
    /** Why a WebSocket of `/v3` is closed right after its upgrade. */
    refusedSocket?: string;
  }
}

export interface Credentials {
  readonly authenticator: Authenticator;
  /** Tickets that replace the credentials on WebSockets. */
  readonly tickets: Tickets;
  /** Consoles' WebSockets need no credentials, because GNS3's clients send none. */
  readonly openConsoles: boolean;
  /** Epoch of this slice's lease, for requests of its controller. Absent: the server is no slice. */
  readonly currentEpoch?: () => number;
}

interface CredentialParts {
  readonly credentials: Credentials;
  readonly isKnownHost: IsKnownHost;
  readonly pageFolder: string | undefined;
  /** Time limit for the body of a login, ms. */
  readonly limitMs: number;
}

/**
 * Requires credentials or a browser's session on every request, and the right of its route. `Host` is not checked then: browsers store
 * both by origin, so a page of another name has neither. It is checked on open consoles, which require no credentials.
 */
export async function addCredentials(app: FastifyInstance, parts: CredentialParts): Promise<void> {
  const { credentials, isKnownHost, pageFolder, limitMs } = parts;
  const { authenticator, tickets, openConsoles } = credentials;
  const sessions = new Sessions();
  const verified: VerifiedLogins = new WeakMap();
  const open = new OpenRequests(app);
  const stop = authenticator.onChange(() => open.check());
  app.addHook('onClose', async () => stop());
  const check = checkLogin(authenticator);
  app.addHook('onRequest', async (request, reply) => {
    const match = matchOf(request);
    const right = match && rightOf(match);
    const isOpen = request.routeOptions.config?.isPublic || right === 'secret' || right === 'open';
    if (request.method === 'OPTIONS' || isOpen) return undefined;
    const caller = await findCaller(request, reply, { authenticator, tickets, sessions, check, verified });
    if (caller) {
      request.caller = caller;
      request.user = caller.username;
      if (match && !isAllowed(request, match, caller)) return undefined;
      open.watch(request, () => caller.isValid() && (!match || findLacking(match, caller) === undefined));
      return undefined;
    }
    if (openConsoles && isSocketRequest(request) && match?.route.template.endsWith('/console/ws')) {
      refuseUnknownHost(request.headers.host, isKnownHost);
      return undefined;
    }
    if (isSocketRequest(request) && isOfV3(match)) {
      if (tokenOfQuery(request) === undefined) throw fault('account_refused', { reason: 'A token is needed: ?token=…' });
      request.refusedSocket = 'Could not validate credentials';
      return undefined;
    }
    return refuse(request, reply, pageFolder);
  });
  await addLogin(app, { sessions, tickets, check, limitMs });
}

/** Gives the requests of a server without credentials all rights, whatever login they have. */
export function addOpenAccess(app: FastifyInstance, authenticator: Authenticator | undefined): void {
  app.addHook('onRequest', async (request) => {
    const token = bearerOf(request) ?? tokenOfQuery(request);
    request.caller = (token !== undefined && (await authenticator?.bearer(token))) || unrestricted;
  });
}

/** The login that each connection sent last, and its account: most clients send it with every request. */
type VerifiedLogins = WeakMap<Socket, { readonly authorization: string; readonly caller: Caller }>;

interface Logins {
  readonly authenticator: Authenticator;
  readonly tickets: Tickets;
  readonly sessions: Sessions;
  readonly check: CheckLogin;
  readonly verified: VerifiedLogins;
}

async function findCaller(request: FastifyRequest, reply: FastifyReply, logins: Logins): Promise<Caller | undefined> {
  const { authorization } = request.headers;
  const { authenticator, tickets, sessions, verified } = logins;
  if (authorization !== undefined) {
    const { socket } = request.raw;
    const known = verified.get(socket);
    if (known?.authorization === authorization && known.caller.isValid()) return known.caller;
    const caller = await findByHeader(request, reply, logins);
    if (caller) verified.set(socket, { authorization, caller });
    return caller;
  }
  const session = findSession(request, reply, sessions);
  if (session) return session;
  const token = tokenOfQuery(request);
  if (token !== undefined) return authenticator.bearer(token);
  if (!isSocketRequest(request)) return undefined;
  const { ticket } = request.query as { ticket?: unknown };
  return typeof ticket === 'string' ? tickets.redeem(ticket, pathOf(request)) : undefined;
}

async function findByHeader(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticator, check }: Logins,
): Promise<Caller | undefined> {
  const token = bearerOf(request);
  if (token !== undefined) return authenticator.bearer(token);
  const [, encoded] = /^basic +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  // Node decodes what is no Base64 as well; such a login is a wrong one.
  const isExact = colon >= 0 && Buffer.from(text).toString('base64') === encoded;
  const login = isExact ? { user: text.slice(0, colon), password: text.slice(colon + 1) } : { user: '', password: text };
  return check(request, reply, login);
}

/** Checks the right. A WebSocket of `/v3` is informed after its upgrade, as its clients expect. @throws faults of `requireRight` */
function isAllowed(request: FastifyRequest, match: RouteMatch, caller: Caller): boolean {
  try {
    requireRight(match, caller);
    return true;
  } catch (error) {
    if (!isFault(error) || !isOfV3(match) || !isSocketRequest(request)) throw error;
    request.refusedSocket = error.message;
    return false;
  }
}

/** Returns the check of a login. Wrong ones are answered later and later. */
function checkLogin(authenticator: Authenticator): CheckLogin {
  return async (request, reply, login) => {
    try {
      return await authenticator.signIn({ ...login, client: clientOf(request) });
    } catch (error) {
      if (isFault(error, 'too_many_logins') || isFault(error, 'login_busy')) reply.header('Retry-After', '10');
      throw error;
    }
  };
}

function bearerOf({ headers: { authorization } }: FastifyRequest): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** Returns the token of the query, which counts where a browser can send no header: WebSockets and pictures of `/v3`. */
function tokenOfQuery(request: FastifyRequest): string | undefined {
  const match = matchOf(request);
  const mayBe = isOfV3(match) && (isSocketRequest(request) || match?.route.template.endsWith('/raw'));
  const { token } = request.query as { token?: unknown };
  return mayBe && typeof token === 'string' && token !== '' ? token : undefined;
}

const isOfV3 = (match: RouteMatch | undefined): boolean => match?.route.template.startsWith('/v3/') ?? false;

/** Whether a ticket may authenticate the request: tickets open routes of WebSockets only. */
function isSocketRequest(request: FastifyRequest): boolean {
  const { method, headers } = request;
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && declaredRoute(request)?.socket !== undefined;
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}

/** Interval in which expired logins are noticed. */
const checkEveryMs = 500;

/**
 * Ends requests, streams and WebSockets whose login or right has ended: a right is checked at their begin, and again when rights change.
 */
class OpenRequests {
  readonly #checks = new Map<FastifyRequest, () => boolean>();

  constructor(app: FastifyInstance) {
    const timer = setInterval(() => this.check(), checkEveryMs).unref();
    app.addHook('onClose', async () => clearInterval(timer));
    app.addHook('onResponse', async (request) => {
      this.#checks.delete(request);
    });
  }

  /** Watches a request until it is answered, or its WebSocket is closed. */
  watch(request: FastifyRequest, isAllowed: () => boolean): void {
    this.#checks.set(request, isAllowed);
    if (request.headers.upgrade !== undefined) request.raw.socket.once('close', () => this.#checks.delete(request));
  }

  /** Ends the connections of all requests that are not allowed any more, but for the one that changes its own account: it is answered. */
  check(): void {
    const changing = findRequester();
    for (const [request, isAllowed] of this.#checks) {
      if (isAllowed()) continue;
      this.#checks.delete(request);
      if (changing === undefined || request.requester !== changing) request.raw.socket.destroy();
    }
  }
}
