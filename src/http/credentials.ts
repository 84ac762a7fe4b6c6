/** HTTP Basic, and what stands for it on WebSockets. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';
import type { Tickets } from '../api/tickets.ts';
import type { IsKnownHost } from '../lib/known-hosts.ts';
import { refuseUnknownHost } from './access.ts';
import { clientOf } from './client-address.ts';
import { LoginDelays } from './login-delays.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
  /** Stand for the credentials on WebSockets. */
  readonly tickets: Tickets;
  /** WebSockets of consoles need neither: GNS3's clients send none. */
  readonly openConsoles: boolean;
}

/**
 * Every request needs the credentials; compared in constant time. Its `Host` does not matter then: browsers keep credentials by origin, so a
 * page of another name has none. Where no credentials are required, on open consoles, it does.
 */
export function addBasicAuth(app: FastifyInstance, credentials: Credentials, isKnownHost: IsKnownHost): void {
  const { user, password, tickets, openConsoles } = credentials;
  const expected = digest(Buffer.from(`${user}:${password}`).toString('base64'));
  const delays = new LoginDelays();
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'OPTIONS' || request.routeOptions.config?.hasOwnCredentials) return;
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const client = clientOf(request);
      if (!delays.accepts(client)) throw tooMany(reply);
      const given = digest(/^basic +(\S+)$/i.exec(authorization)?.[1] ?? '');
      if (timingSafeEqual(given, expected)) return;
      await delays.failed(client, given);
    } else if (isSocketRequest(request)) {
      const { ticket } = request.query as { ticket?: unknown };
      if (typeof ticket === 'string' && tickets.redeem(ticket, pathOf(request))) return;
      if (openConsoles && request.routeOptions.config.template?.endsWith('/console/ws'))
        return refuseUnknownHost(request.headers.host, isKnownHost);
    }
    reply.headers({ 'WWW-Authenticate': 'Basic realm="GNS3 server"', Connection: 'close' });
    throw fault('unauthorized', {});
  });
}

/** Tickets open WebSockets and nothing else, whatever a request says of itself. */
function isSocketRequest({ method, headers, routeOptions }: FastifyRequest): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && routeOptions.config?.isSocket === true;
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
