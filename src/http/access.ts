/** Decides which pages may use the server: by the host names that address it, and by the origins of other servers' pages. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';
import { epochHeader } from '../api/own-agent.ts';
import type { IsKnownHost } from '../lib/known-hosts.ts';
import { declaredRoute } from './declared-routes.ts';
import { generationOf } from './generations/generations.ts';

/**
 * Refuses requests that a controller sent to this slice by an epoch of its lease that is over: a network may deliver one minutes later, when
 * its sender has given up and has had the same done elsewhere. Checked when the request is complete. @throws request_outdated
 */
export function refuseOutdated(app: FastifyInstance, currentEpoch: () => number): void {
  app.addHook('preHandler', async ({ headers }) => {
    const [epoch, current] = [Number(headers[epochHeader]), currentEpoch()];
    if (epoch < current) throw fault('request_outdated', { epoch, current });
  });
}

/** Checks the `Host` header of a server without credentials: an unknown name means that a page used DNS rebinding. */
export function addHostCheck(app: FastifyInstance, isKnownHost: IsKnownHost): void {
  app.addHook('onRequest', async (request) => {
    if (declaredRoute(request)?.spec.right !== 'secret') refuseUnknownHost(request.headers.host, isKnownHost);
  });
}

/** @throws host_refused */
export function refuseUnknownHost(host: string | undefined, isKnownHost: IsKnownHost): void {
  if (!isKnownHost(host)) throw fault('host_refused', { host: host ?? '' });
}

/** `allowedOrigins`: origins of other servers' pages that may use this server, with credentials. */
export function addCors(app: FastifyInstance, allowedOrigins: readonly string[]): void {
  app.addHook('onRequest', async (request, reply) => {
    const origin = request.headers.origin;
    if (request.method === 'OPTIONS') return preflight(request, reply, allowedOrigins);
    // Browsers send requests on behalf of any page, with its origin. There is no preflight, because every Content-Type is read as
    // JSON.
    const changesSomething = request.method !== 'GET' || request.headers.upgrade !== undefined;
    const isAllowed = origin !== undefined && allowedOrigins.includes(origin);
    if (origin !== undefined && changesSomething && !isAllowed && !isOwn(origin, request))
      throw fault('origin_refused', { origin });
    if (isAllowed) {
      reply.headers({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Allow-Credentials': 'true',
        'Access-Control-Expose-Headers': 'X-Route,X-Error-Code,Server,ETag,Content-Disposition',
        Vary: 'Origin',
      });
    }
    return undefined;
  });
}

/**
 * Whether the origin is this server's own page. A proxy with a certificate forwards HTTPS pages over HTTP; a server with TLS only
 * has HTTPS pages.
 */
function isOwn(origin: string, { headers: { host }, protocol }: FastifyRequest): boolean {
  return origin === `https://${host}` || (protocol === 'http' && origin === `http://${host}`);
}

function preflight(request: FastifyRequest, reply: FastifyReply, allowedOrigins: readonly string[]): FastifyReply {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': headers } = request.headers;
  if (origin === undefined || method === undefined || !allowedOrigins.includes(origin)) {
    const status = generationOf(request.url).refusedPreflight;
    return reply.code(status).type('text/plain; charset=utf-8').send(`${status}: this origin may not use this server`);
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
