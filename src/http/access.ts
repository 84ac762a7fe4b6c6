/** Who may ask: cross-origin rules and HTTP Basic. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fault } from '../api/faults.ts';

/** Pages that existing browser clients are served from. */
const foreignOrigins = [
  'http://127.0.0.1:3080',
  'http://localhost:3080',
  'http://127.0.0.1:4200',
  'http://localhost:4200',
  'http://gns3.github.io',
  'https://gns3.github.io',
];

export function addCors(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const origin = request.headers.origin;
    if (request.method === 'OPTIONS') return preflight(request, reply);
    // A browser asks on behalf of any page it shows, and says which; bodies are JSON whatever they are called, so it need not ask first.
    const changesSomething = request.method !== 'GET' || request.headers.upgrade !== undefined;
    if (origin !== undefined && changesSomething && !isTrusted(origin, request.headers.host))
      throw fault('origin_refused', { origin });
    if (origin !== undefined && foreignOrigins.includes(origin)) {
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

/** Our own pages, and those of existing clients. */
function isTrusted(origin: string, host: string | undefined): boolean {
  return foreignOrigins.includes(origin) || origin === `http://${host}` || origin === `https://${host}`;
}

function preflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': headers } = request.headers;
  if (origin === undefined || method === undefined || !foreignOrigins.includes(origin)) {
    return reply.code(403).type('text/plain').send('403: this origin may not use this server');
  }
  reply.headers({
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Allow-Methods': method,
    'Access-Control-Max-Age': '0',
    Vary: 'Origin',
  });
  if (headers !== undefined) reply.header('Access-Control-Allow-Headers', headers);
  return reply.code(200).send();
}

/** Every request needs the credentials; compared in constant time. */
export function addBasicAuth(app: FastifyInstance, user: string, password: string): void {
  const expected = digest(`Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'OPTIONS') return undefined;
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) return undefined;
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
