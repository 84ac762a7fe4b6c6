/**
 * Builds the OpenAPI 3.1 document from the routes' keys and validating schemas, so that it cannot differ from the server's
 * behaviour.
 */
import { Type } from '../../schema/type.ts';
import type { Route } from '../route.ts';
import { Components, type Json } from './components.ts';

export interface ApiVersions {
  /** Version of this program. */
  readonly program: string;
  /** Version of the GNS3 API that this program speaks. */
  readonly api: string;
}

export interface Operation extends Json {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Json }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, { $ref: string } | { description: string; content?: Record<string, { schema: Json }> }>;
}
export interface ApiDocument extends Json {
  openapi: string;
  info: Json;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; responses: Json; securitySchemes: Json };
}

const Failure = Type.Object(
  {
    message: Type.String({ description: 'For people: what is wrong, and what to do' }),
    status: Type.Integer({ description: 'The HTTP status' }),
  },
  { title: 'Error', description: 'An error of docs/errors.md; answers of computes and 400 answers have more keys' },
);

const description =
  'The GNS3 2.2 API below /v2, the GNS3 3 API below /v3, and what this server adds: operations with `x-patchbay-own`, explained ' +
  'in docs/api.md. Bodies are read as JSON whatever they are called; below /v2 query parameters are merged into them.';

export function describeApi(routes: readonly Route[], versions: ApiVersions): ApiDocument {
  const components = new Components();
  const shape = components.take(Failure);
  const paths: ApiDocument['paths'] = {};
  for (const route of routes) {
    const path = route.template.replace(/\{(\w+):[^}]+\}/g, '{$1}');
    const operations = paths[path] ?? {};
    operations[route.method.toLowerCase()] = operationOf(route, path, components);
    paths[path] = operations;
  }
  const failures = Object.entries(failureNames).map(([name, text]) => [name, { description: text, content: json(shape) }]);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Patchbay',
      version: versions.program,
      description: `${description} Version of the GNS3 API: ${versions.api}.`,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{}, { basic: [] }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses: Object.fromEntries(failures),
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'Where the server was given a user and a password' },
      },
    },
  };
}

const failureNames = {
  BadRequest: 'The request is not understood; nothing changed',
  NotFound: 'There is no such thing',
  Conflict: 'The request conflicts with the current state; nothing changed',
  Failure: 'The request failed; the message says why',
} as const;

const failure = (name: keyof typeof failureNames) => ({ $ref: `#/components/responses/${name}` });

function operationOf(route: Route, path: string, components: Components): Operation {
  const { summary, body, raw, query = {}, own } = route.spec;
  const inPath = [...route.template.matchAll(/\{(\w+)(?::([^}]+))?\}/g)].map(([, name = '', expression]) => ({
    name,
    in: 'path',
    required: true,
    ...(expression === '.+' && { description: 'May contain slashes' }),
    schema: { type: 'string', ...(expression !== undefined && { pattern: `^${expression}$` }) },
  }));
  const inQuery = Object.entries(query).map(([name, schema]) => {
    const { description: text, ...rest } = components.take(schema) as Json & { description?: string };
    return { name, in: 'query', required: false, ...(text !== undefined && { description: text }), schema: rest };
  });
  const operationId = `${route.method.toLowerCase()}${path.replace(/^\/v2/, '').replace(/\W+/g, '_').replace(/_$/, '')}`;
  return {
    operationId,
    summary,
    tags: [tagOf(route)],
    parameters: [...inPath, ...inQuery],
    ...(body && {
      requestBody: { required: isRequired(body), content: json(components.take({ title: bodyName(operationId), ...body })) },
    }),
    ...(raw && route.method !== 'GET' && { requestBody: { required: true, content: bytes } }),
    responses: responsesOf(route, inPath.length > 0, components),
    ...(own && { 'x-patchbay-own': true }),
  };
}

const json = (schema: Json) => ({ 'application/json': { schema } });
const bytes = { 'application/octet-stream': { schema: {} } };

/** Names a body whose schema has no title. */
function bodyName(operationId: string): string {
  return `${operationId.replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())}Body`;
}

function isRequired(body: object): boolean {
  return 'required' in body && (body.required as unknown[]).length > 0;
}

function responsesOf({ method, spec, socket }: Route, hasPath: boolean, components: Components): Operation['responses'] {
  const failures = {
    ...(spec.body && { 400: failure('BadRequest') }),
    ...(hasPath && { 404: failure('NotFound') }),
    ...(method !== 'GET' && { 409: failure('Conflict') }),
    default: failure('Failure'),
  };
  if (socket) return { 101: { description: 'A WebSocket' }, ...failures };
  const { status = 200, reply, empty, replyType = 'application/json' } = spec;
  if (status === 204) return { 204: { description: 'Done' }, ...failures };
  const description = status === 201 ? 'Made or done' : 'The answer';
  if (empty) return { [status]: { description: `${description}; without a body` }, ...failures };
  const content = { [replyType]: { schema: reply ? components.take(reply) : {} } };
  return { [status]: { description, content }, ...failures };
}

/** Parts of a project with a chapter of their own. */
const parts = new Set(['nodes', 'links', 'drawings', 'snapshots', 'files', 'notifications']);

/** Derives a route's chapter from its path. */
function tagOf({ template }: Route): string {
  const [, root, area = '', , part = ''] = template.split('/');
  if (root !== 'v2' && root !== 'v3') return 'server';
  if (area === 'compute') return 'compute';
  if (area === 'projects') return parts.has(part) ? part : area;
  return areas.get(area) ?? area;
}

const areas = new Map([
  ...['version', 'shutdown', 'debug', 'statistics', 'iou_license', 'gns3vm'].map((area) => [area, 'server'] as const),
  ['default_symbols', 'symbols'],
]);
