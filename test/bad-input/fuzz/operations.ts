/** Every operation of a server's OpenAPI document, with its weight in the fuzzer. */
import type { Schema } from './values.ts';

export interface Operation {
  readonly method: string;
  readonly path: string;
  /** Schema of the JSON body. */
  readonly body?: Schema;
  /** Bytes are sent. */
  readonly raw: boolean;
  readonly query: Readonly<Record<string, Schema>>;
  /** Statuses that are declared for success. */
  readonly successes: readonly number[];
  /** Frequency of its requests, relative to others. */
  readonly weight: number;
}

interface Described {
  readonly responses: Record<string, unknown>;
  readonly parameters?: readonly { in: string; name: string; schema: Schema }[];
  readonly requestBody?: { content: Record<string, { schema: Schema }> };
}
export interface OpenApi {
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { schemas: Record<string, Schema> };
}

/**
 * Operations that end the server, take long, or (`close`) leave a folder to the project's controller, which does not exist here.
 */
const leftOut = new Set([
  'post /v2/shutdown',
  'post /v2/demo_lab',
  'post /v2/lab_images',
  'post /v2/reload',
  'post /v2/compute/projects/{project_id}/close',
]);

export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => !leftOut.has(`${method} ${path}`))
      .map(([method, described]) => {
        const content = described.requestBody?.content ?? {};
        const body = content['application/json']?.schema;
        const query = (described.parameters ?? []).filter((each) => each.in === 'query');
        return {
          method: method.toUpperCase(),
          path,
          ...(body && { body }),
          raw: 'application/octet-stream' in content,
          query: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
          successes: Object.keys(described.responses)
            .map(Number)
            .filter((status) => status < 400),
          weight: weightOf(method, path),
        };
      }),
  );
}

/** Changes of nodes, links and projects are the most frequent; the end of a project is rare, because its nodes end with it. */
function weightOf(method: string, path: string): number {
  if (path === '/v2/projects/{project_id}' && method === 'delete') return 0.6;
  if (/\{project_id\}\/(close|open)$/.test(path)) return 1.5;
  if (/\/v2\/projects\/\{project_id\}\/(undo|redo|bulk|import|export|duplicate|snapshots)/.test(path)) return 8;
  if (/\/v2\/projects\/\{project_id\}\/(nodes|links)/.test(path)) return method === 'get' ? 1 : 6;
  if (/^\/v2\/projects/.test(path)) return 3;
  if (/^\/v2\/compute\/projects\/\{project_id\}\/(vpcs|ethernet_switch)/.test(path)) return 2;
  if (/^\/v2\/compute\/projects\/\{project_id\}\/(ethernet_hub|atm|frame)/.test(path)) return 0.5;
  return /^\/v2\/compute\/projects\/\{project_id\}\/\w+\/nodes/.test(path) ? 0.15 : 0.8;
}
