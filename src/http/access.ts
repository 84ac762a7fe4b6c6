/** Who may ask: cross-origin rules and HTTP Basic. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';
import type { Tickets } from '../api/tickets.ts';

/** `allowedOrigins`: pages served from elsewhere that may use this server, with credentials. */
export function addCors(app: FastifyInstance, allowedOrigins: readonly string[]): void {
  app.addHook('onRequest', async (request, reply) => {
    const origin = request.headers.origin;
    if (request.method === 'OPTIONS') return preflight(request, reply, allowedOrigins);
    // A browser asks on behalf of any page it shows, and says which; bodies are JSON whatever they are called, so it need not ask first.
    const changesSomething = request.method !== 'GET' || request.headers.upgrade !== undefined;
    const isAllowed = origin !== undefined && allowedOrigins.includes(origin);
    if (origin !== undefined && changesSomething && !isAllowed && !isOwn(origin, request.headers.host))
      throw fault('origin_refused', { origin });
    if (isAllowed) {
      reply.headers({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Allow-Credentials': 'true',
        'Access-Control-Expose-Headers': 'X-Route,Server,ETag,Content-Disposition',
        Vary: 'Origin',
      });
    }
    return undefined;
  });
}

function isOwn(origin: string, host: string | undefined): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

function preflight(request: FastifyRequest, reply: FastifyReply, allowedOrigins: readonly string[]): FastifyReply {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': headers } = request.headers;
  if (origin === undefined || method === undefined || !allowedOrigins.includes(origin)) {
    return reply.code(403).type('text/plain; charset=utf-8').send('403: this origin may not use this server');
  }
  reply.headers({
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Allow-Methods': method,
    'Access-Control-Max-Age': '0',
    Vary: 'Origin',
  });
  if (headers !== undefined) reply.header('Access-Control-Allow-Headers', headers);
  return reply.code(200).type('application/octet-stream').send();
}

export interface Credentials {
  readonly user: string;
  readonly password: string;
  /** Stand for the credentials on WebSockets. */
  readonly tickets: Tickets;
  /** WebSockets of consoles need neither: clients of the established server send none. */
  readonly openConsoles: boolean;
}

/** Every request needs the credentials; compared in constant time. */
export function addBasicAuth(app: FastifyInstance, { user, password, tickets, openConsoles }: Credentials): void {
  const expected = digest(`Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'OPTIONS') return undefined;
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) return undefined;
    if (request.headers.upgrade?.toLowerCase() === 'websocket') {
      const { ticket } = request.query as { ticket?: unknown };
      if (typeof ticket === 'string' && tickets.redeem(ticket)) return undefined;
      if (openConsoles && request.routeOptions.config.template?.endsWith('/console/ws')) return undefined;
    }
    return reply
      .code(401)
      .headers({ 'WWW-Authenticate': 'Basic realm="GNS3 server"', Connection: 'close' })
      .type('application/octet-stream')
      .send(Buffer.alloc(0));
  });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
