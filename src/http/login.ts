/**
 * Signs browsers in: the login page and the session cookie. A browser sends the cookie with requests of any page, so a cookie
 * proves less than credentials: only the server's own page may change something with it.
 */
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';
import type { Caller } from '../api/rights.ts';
import type { Tickets } from '../api/tickets.ts';
import { sessionCookiePrefix } from '../lib/session-cookie.ts';
import { generationOf } from './generations/generations.ts';
import { parseJson } from './json-body.ts';
import { pagePaths, sendPage } from './page.ts';
import type { Sessions } from './sessions.ts';

/** Longest text that is looked up as a session token. Characters. */
const longestToken = 100;
/** Browsers show no dialog for this scheme. Source: draft-broyer-http-cookie-auth. */
const cookieChallenge = 'Cookie realm="Patchbay"';

/** Checks user and password. Each failure is answered later than the one before. @throws too_many_logins, login_busy */
export type CheckLogin = (
  request: FastifyRequest,
  reply: FastifyReply,
  login: { readonly user: string; readonly password: string },
) => Promise<Caller | undefined>;

interface LoginParts {
  readonly sessions: Sessions;
  /** Tickets, which are revoked when the sessions end: a session may have requested some. */
  readonly tickets: Tickets;
  readonly check: CheckLogin;
  /** Time limit for the body of a request, ms. */
  readonly limitMs: number;
}

/**
 * `GET /login` answers whether the browser is signed in, `POST /login` signs in, `POST /logout` signs out. `POST
 * /logout/everywhere` needs credentials or a session, and ends all sessions of the user.
 */
export async function addLogin(app: FastifyInstance, { sessions, tickets, check, limitMs }: LoginParts): Promise<void> {
  const config = { isPublic: true } as const;
  await app.register(async (context) => {
    parseJson(context, limitMs);
    context.get('/login', { config }, async (request, reply) => {
      const isSignedIn = callerOfSession(request, sessions) !== undefined;
      if (!isSignedIn) reply.header('www-authenticate', cookieChallenge);
      return reply
        .code(isSignedIn ? 204 : 401)
        .header('cache-control', 'no-store')
        .send();
    });
    context.post('/login', { config }, async (request, reply) => {
      const { user, password } = (request.body ?? {}) as { user?: unknown; password?: unknown };
      if (typeof user !== 'string' || typeof password !== 'string')
        throw fault('invalid_request', { reason: 'user and password must be texts' });
      const caller = await check(request, reply, { user, password });
      if (!caller) {
        reply.header('www-authenticate', cookieChallenge);
        throw fault('wrong_login', {});
      }
      endSession(request, sessions);
      return reply
        .code(204)
        .headers({ 'set-cookie': cookieOf(request, sessions.open(caller)), 'cache-control': 'no-store' })
        .send();
    });
    context.post('/logout', { config }, async (request, reply) => {
      endSession(request, sessions);
      return reply.code(204).header('set-cookie', cookieOf(request, undefined)).send();
    });
    context.post('/logout/everywhere', async (request, reply) => {
      const userId = request.caller?.userId ?? '';
      sessions.closeAll(userId);
      tickets.revokeAll(userId);
      return reply.code(204).header('set-cookie', cookieOf(request, undefined)).send();
    });
  });
}

/**
 * Returns the account of the request's session. Browsers send `Origin` with every request that changes something and with WebSockets.
 * An earlier hook has checked that it is this server's or an allowed origin. @throws origin_refused when it is missing
 */
export function findSession(request: FastifyRequest, reply: FastifyReply, sessions: Sessions): Caller | undefined {
  const { method, headers } = request;
  const isUpgrade = headers.upgrade !== undefined;
  const caller = callerOfSession(request, sessions, isUpgrade);
  if (caller === undefined) return undefined;
  if ((method !== 'GET' || isUpgrade) && headers.origin === undefined)
    throw fault('origin_refused', { origin: 'an unknown origin' });
  // The page reads this header to know that it can sign out.
  reply.header('X-Patchbay-User', encodeURIComponent(caller.username));
  return caller;
}

/**
 * Answers a request without credentials. A browser that opens the page gets the login page. A browser whose session has ended gets
 * no challenge that opens a dialog. Other clients, such as GNS3's, get the challenge of HTTP Basic.
 */
export async function refuse(request: FastifyRequest, reply: FastifyReply, pageFolder: string | undefined): Promise<FastifyReply> {
  const { method, headers, routeOptions } = request;
  const isPage = method === 'GET' && pagePaths.includes(routeOptions.url ?? '') && headers.accept?.includes('text/html');
  if (isPage && headers.authorization === undefined && headers.upgrade === undefined && pageFolder !== undefined) {
    reply.code(401).header('www-authenticate', cookieChallenge);
    if (await sendPage(request, reply, join(pageFolder, 'login.html'))) return reply;
  }
  const isBrowser = tokensOf(request).length > 0;
  const { challenge } = generationOf(request.url);
  reply.headers({ 'WWW-Authenticate': isBrowser ? cookieChallenge : challenge, Connection: 'close' });
  throw fault('unauthorized', {});
}

function callerOfSession(request: FastifyRequest, sessions: Sessions, isUpgrade = false): Caller | undefined {
  const { socket } = request.raw;
  for (const token of tokensOf(request)) {
    const caller = sessions.use(token, isUpgrade ? socket : undefined);
    if (caller !== undefined) return caller;
  }
  return undefined;
}

function endSession(request: FastifyRequest, sessions: Sessions): void {
  for (const token of tokensOf(request)) sessions.close(token);
}

/**
 * Names the session cookie after the port in the browser's address bar, because browsers share cookies among all ports of a host.
 * The listening port would not do: several servers behind proxies may have the same one.
 */
function cookieName({ headers, raw }: FastifyRequest, isSecure: boolean): string {
  const [, port = raw.socket.localPort ?? 0] = /:(\d{1,5})$/.exec(headers.host ?? '') ?? [];
  return `${isSecure ? '__Host-' : ''}${sessionCookiePrefix}${port}`;
}

function tokensOf(request: FastifyRequest): string[] {
  // A browser's connection through a proxy with a certificate is secure although this one is not.
  const names =
    request.protocol === 'https' ? [cookieName(request, true)] : [cookieName(request, true), cookieName(request, false)];
  return (request.headers.cookie ?? '').split(';').flatMap((pair) => {
    const [name = '', value = ''] = pair.trim().split('=', 2);
    return names.includes(name) && value !== '' && value.length <= longestToken ? [value] : [];
  });
}

/**
 * Formats the session cookie, which lasts until the browser ends. Without a token it signs out: the cookie stays, without a
 * session, so that other tabs show no login dialog, whose credentials the browser would store.
 */
function cookieOf(request: FastifyRequest, token: string | undefined): string {
  const isSecure = request.protocol === 'https' || (request.headers.origin ?? '').startsWith('https:');
  const parts = [`${cookieName(request, isSecure)}=${token ?? 'ended'}`, 'Path=/', 'HttpOnly', 'SameSite=Strict'];
  if (isSecure) parts.push('Secure');
  return parts.join('; ');
}
