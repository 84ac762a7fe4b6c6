/** Conventions of `/v2`, GNS3 2.2's: query parameters are merged into bodies, invalid requests are answered with 400. */
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Fault } from '../../api/faults.ts';
import { lenient } from '../../api/lenient-body.ts';
import type { Route } from '../../api/route.ts';
import { validateBody } from '../../api/validate.ts';
import { declaredRoute } from '../declared-routes.ts';
import type { CallParts, Generation } from './generation.ts';

export const generation2: Generation = {
  challenge: 'Basic realm="GNS3 server"',
  refusedPreflight: 403,
  read: async (route, sent, request) => ({ ...sent, body: await bodyOf(route, sent, request) }),
  errorOf: (fault, request) => ({ status: fault.status, body: errorBody(fault, request) }),
  noRoute: ({ url }, methodsOf) => {
    const isUnknown = methodsOf(url).length === 0;
    const text = isUnknown ? '404: Not Found' : '405: Method Not Allowed';
    return { status: isUnknown ? 404 : 405, contentType: 'text/plain; charset=utf-8', text };
  },
};

async function bodyOf(route: Route, { query, body = {} }: CallParts, request: FastifyRequest): Promise<unknown> {
  if (!route.spec.body) return body;
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  // The error handler reads the parsed body from the request, to quote it in the answer.
  if (isObject && Object.keys(query).length > 0) request.body = { ...body, ...query };
  return validateBody(route, lenient(route.spec.body, request.body ?? body));
}

/**
 * Formats the answer's body. `exception` and its fields are for the compute API: controllers read them. GNS3's controller API has
 * none.
 */
function errorBody(known: Fault, request: FastifyRequest): Record<string, unknown> {
  const template = declaredRoute(request)?.template;
  const { request: understood, ...extra } = known.extra;
  const body: Record<string, unknown> = { message: known.message, status: known.status };
  if (template?.startsWith('/v2/compute/')) {
    Object.assign(body, extra);
    if (known.exception !== undefined) body.exception = known.exception;
  }
  if (known.status === 400) {
    body.method = request.method;
    body.path = template ?? request.url;
    body.request = understood ?? redact(request.body);
  }
  return body;
}

/** Most characters of the request that an answer quotes; each value counts as one at least. */
const mostShown = 4096;

/** Shortens the request that a 400 answer quotes, and removes its secrets. */
function redact(body: unknown): unknown {
  if (body === undefined || body instanceof Readable) return {};
  let left = mostShown;
  try {
    const text = JSON.stringify(body, (key, value) => {
      left -= 1;
      if (left < 0) throw new RangeError('it holds more than is shown');
      return key === 'password' || key === 'secret' || key === 'token' ? '***' : value;
    });
    return text.length > mostShown ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}
