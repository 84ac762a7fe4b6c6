/** Authenticates requests: HTTP Basic, the session of a browser, or the ticket of a WebSocket. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';
import type { Tickets } from '../api/tickets.ts';
import type { IsKnownHost } from '../lib/known-hosts.ts';
import { refuseUnknownHost } from './access.ts';
import { clientOf } from './client-address.ts';
import { declaredRoute } from './declared-routes.ts';
import { addLogin, type CheckLogin, hasSession, refuse } from './login.ts';
import { LoginDelays } from './login-delays.ts';
import { Sessions } from './sessions.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
  /** Tickets that replace the credentials on WebSockets. */
  readonly tickets: Tickets;
  /** Consoles' WebSockets need no credentials, because GNS3's clients send none. */
  readonly openConsoles: boolean;
}

export interface CredentialParts {
  readonly credentials: Credentials;
  readonly isKnownHost: IsKnownHost;
  readonly pageFolder: string | undefined;
  /** Time limit for the body of a login, ms. */
  readonly limitMs: number;
}

/**
 * Requires credentials (compared in constant time) or a browser's session on every request. `Host` is not checked then: browsers
 * store both by origin, so a page of another name has neither. It is checked on open consoles, which require no credentials.
 */
export async function addCredentials(app: FastifyInstance, parts: CredentialParts): Promise<void> {
  const { credentials, isKnownHost, pageFolder, limitMs } = parts;
  const { user, password, tickets, openConsoles } = credentials;
  const check = checkLogin(Buffer.from(`${user}:${password}`).toString('base64'));
  const sessions = new Sessions();
  const accept = (request: FastifyRequest): void => {
    request.user = user;
  };
  app.addHook('onRequest', async (request, reply) => {
    const route = declaredRoute(request);
    if (request.method === 'OPTIONS' || request.routeOptions.config?.isPublic || route?.spec.right === 'secret') return undefined;
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      if (await check(request, reply, /^basic +(\S+)$/i.exec(authorization)?.[1] ?? '')) return accept(request);
      return refuse(request, reply, pageFolder);
    }
    if (hasSession(request, reply, sessions)) return accept(request);
    if (isSocketRequest(request)) {
      const { ticket } = request.query as { ticket?: unknown };
      if (typeof ticket === 'string' && tickets.redeem(ticket, pathOf(request))) return accept(request);
      if (openConsoles && route?.template.endsWith('/console/ws')) {
        refuseUnknownHost(request.headers.host, isKnownHost);
        return undefined;
      }
    }
    return refuse(request, reply, pageFolder);
  });
  await addLogin(app, { user, sessions, tickets, check, limitMs });
}

/** Returns the check of a login. Both arguments are user and password as HTTP Basic encodes them. */
function checkLogin(expected: string): CheckLogin {
  const right = digest(expected);
  const delays = new LoginDelays();
  return async (request, reply, given) => {
    const client = clientOf(request);
    if (!delays.accepts(client)) throw tooMany(reply);
    const attempt = digest(given);
    if (timingSafeEqual(attempt, right)) return true;
    await delays.failed(client, attempt);
    return false;
  };
}

/** Whether a ticket may authenticate the request: tickets open routes of WebSockets only. */
function isSocketRequest(request: FastifyRequest): boolean {
  const { method, headers } = request;
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && declaredRoute(request)?.socket !== undefined;
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}

function tooMany(reply: FastifyReply): Error {
  reply.header('Retry-After', '10');
  return fault('too_many_logins', {});
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
