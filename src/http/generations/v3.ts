/**
 * Conventions of `/v3`, GNS3 3.x's: values may have neighbouring types, query parameters are not merged into bodies, invalid requests
 * are answered with 422 and a list of faults, and errors have a message alone.
 */
import type { FastifyRequest } from 'fastify';
import { type Fault, type FaultCode, fault } from '../../api/faults.ts';
import { readLax, uuidOf, type ValueFault } from '../../api/lax-values.ts';
import { printFaults } from '../../api/python-text.ts';
import type { Method, Route } from '../../api/route.ts';
import { validateBody } from '../../api/validate.ts';
import type { CallParts, Generation, NoRouteAnswer } from './generation.ts';

export const generation3: Generation = {
  // GNS3's desktop logs in when it is exactly this one.
  challenge: 'Bearer',
  refusedPreflight: 400,
  read,
  errorOf: (known, request) => ({
    status: statusOf(known, request),
    body: { message: typeof known.extra.faults === 'string' ? known.extra.faults : known.message },
  }),
  noRoute,
};

/** Faults with another status than in `/v2`. */
const statuses: Partial<Record<FaultCode, number>> = {
  invalid_request: 422,
  malformed_json: 422,
  link_ends: 422,
  template_built_in: 403,
};

/** Bodies of templates that the template's type refuses are answered with 400, and so are names of new disks that are taken. */
function statusOf({ code, status, extra }: Fault, { url }: FastifyRequest): number {
  const isOfType = code === 'invalid_request' && extra.faults === undefined && url.startsWith('/v3/templates');
  const isTakenDisk = code === 'image_refused' && url.startsWith('/v3/images/qemu/');
  return isOfType || isTakenDisk ? 400 : (statuses[code] ?? status);
}

/** Parameters in paths that are no UUID although their names end like those. */
const namesOfTheirOwn = new Set(['compute_id', 'symbol_id', 'capture_id', 'traffic_id']);

async function read(route: Route, { path, query, body }: CallParts): Promise<CallParts> {
  const faults: ValueFault[] = [];
  const readPath: Record<string, string> = { ...path };
  for (const [name, value] of Object.entries(path as Record<string, string>)) {
    if (!name.endsWith('_id') || namesOfTheirOwn.has(name) || route.template.includes(`{${name}:`)) continue;
    const uuid = uuidOf(value);
    if (uuid === undefined)
      faults.push({ type: 'uuid_parsing', loc: ['path', name], msg: 'Input should be a valid UUID', input: value });
    else readPath[name] = uuid;
  }
  const readQuery: Record<string, string> = { ...query };
  for (const [name, schema] of Object.entries(route.spec.query ?? {})) {
    if (query[name] === undefined) continue;
    const { value, faults: found } = readLax(schema, query[name], ['query', name]);
    faults.push(...found);
    // Handlers read texts: a word for a truth value is written as `true` or `false`.
    readQuery[name] = String(value);
  }
  const read = bodyOf(route, route.method === 'GET' ? { ...(body as object | undefined), ...query } : body);
  faults.push(...read.faults);
  if (faults.length > 0) throw fault('invalid_request', { reason: 'see faults' }, { extra: { faults: printFaults(faults) } });
  return { path: readPath, query: readQuery, body: await validateBody(route, read.value) };
}

function bodyOf(route: Route, body: unknown): { readonly value: unknown; readonly faults: readonly ValueFault[] } {
  const { body: schema } = route.spec;
  if (!schema) return { value: body ?? {}, faults: [] };
  if (body === undefined || body === null)
    return { value: body, faults: [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }] };
  return readLax(schema, body, ['body']);
}

/** A path that has a route with one slash more or less at its end is redirected there. */
function noRoute(request: FastifyRequest, methodsOf: (url: string) => Method[]): NoRouteAnswer {
  const { url } = request;
  const detail = (status: number, text: string): NoRouteAnswer => ({
    status,
    contentType: 'application/json',
    text: JSON.stringify({ detail: text }),
  });
  if (methodsOf(url).length > 0) return detail(405, 'Method Not Allowed');
  const [, path = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(url) ?? [];
  const other = path.endsWith('/') ? path.replace(/\/+$/, '') : `${path}/`;
  if (other.startsWith('/v3') && methodsOf(other).length > 0) {
    const location = `${request.protocol}://${request.headers.host ?? ''}${other}${query}`;
    return { ...detail(307, 'Temporary Redirect'), location };
  }
  return detail(404, 'Not Found');
}
