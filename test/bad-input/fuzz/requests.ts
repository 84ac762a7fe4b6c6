/** Makes one request of an operation, and judges its answer. */
import { faultRows } from '../../../src/api/faults.ts';
import type { RawClient, Reply } from '../../support/raw-http.ts';
import type { Operation } from './operations.ts';
import { type Schema, spoil, valueFor } from './values.ts';
import type { World } from './world.ts';

export interface FuzzRequest {
  readonly operation: Operation;
  readonly line: string;
  readonly raw?: string | Uint8Array;
}

/** With this many objects, nothing further is created. */
const enough = { project_id: 9, node_id: 60, compute_id: 4, template_id: 60 };
/** They end when the listener leaves. */
const endless = /\/(notifications|pcap)$/;
/** 405 and 414 are the HTTP layer's own. */
const refusals = new Set([
  ...faultRows()
    .map(({ status }) => status)
    .filter((status) => status < 500),
  405,
  414,
  507,
]);
const limitMs = 30_000;

export function requestOf(world: World, operations: readonly Operation[]): FuzzRequest {
  const { chance } = world;
  let left = chance.next() * operations.reduce((sum, { weight }) => sum + weight, 0);
  const operation = operations.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  if (!operation || isEnough(world, operation)) return requestOf(world, operations);
  const path = world.fill(operation.method, operation.path);
  const { query, raw } = payloadOf(world, operation);
  const line = `${operation.method} ${path}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  return raw === undefined ? { operation, line } : { operation, line, raw };
}

function isEnough(world: World, { method, path }: Operation): boolean {
  if (method !== 'POST') return false;
  const project = /^\/v2\/(compute\/)?projects(\/load|\/\{project_id\}\/(duplicate|import))?$/.test(path);
  return (
    (project && world.count('project_id') > enough.project_id) ||
    (/nodes$|bulk$|duplicate$|templates\/\{/.test(path) && world.count('node_id') > enough.node_id) ||
    (path === '/v2/computes' && world.count('compute_id') > enough.compute_id) ||
    (/^\/v2\/templates/.test(path) && world.count('template_id') > enough.template_id)
  );
}

function payloadOf(world: World, operation: Operation): { query: string[]; raw?: string | Uint8Array } {
  const { chance } = world;
  const query = Object.entries(operation.query)
    .filter(() => chance.next() < 0.5)
    .map(([key, schema]) => `${key}=${asQuery(chance.next() < 0.7 ? valueFor(world, schema, key) : spoil(chance, null))}`);
  if (operation.raw) {
    const isArchive = operation.path.endsWith('/import');
    if (!isArchive)
      return { query, raw: chance.pick(['', 'text', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'x'.repeat(70_000)]) ?? '' };
    return { query: ['name=imported'], raw: chance.next() < 0.6 ? world.archive : damaged(world) };
  }
  if (!operation.body) return chance.next() < 0.9 ? { query } : { query, raw: chance.pick(['{', '[]', 'null', '{"a": 1}']) ?? '' };
  return { query, ...bodyOf(world, operation.body, query) };
}

function bodyOf(world: World, schema: Schema, query: string[]): { raw: string } {
  const { chance } = world;
  const good = valueFor(world, schema);
  const luck = chance.next();
  if (luck < 0.02) return { raw: chance.pick(['{', '[', '"', '{"a":1,}', '\u0000', '[]', 'null', '5']) ?? '' };
  if (luck < 0.1 && typeof good === 'object' && good !== null) {
    const { [chance.pick(Object.keys(good)) ?? '']: _, ...rest } = good as Record<string, unknown>;
    for (const [key, value] of Object.entries(good)) if (!(key in rest)) query.push(`${key}=${asQuery(value)}`);
    return { raw: JSON.stringify(rest) };
  }
  return { raw: JSON.stringify(luck < 0.3 ? spoil(chance, good) : good) };
}

function asQuery(value: unknown): string {
  return encodeURIComponent((typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed().slice(0, 300));
}

function damaged({ archive, chance }: World): Uint8Array {
  const copy = Buffer.from(archive);
  if (chance.next() < 0.4) return copy.subarray(0, chance.between(0, copy.length));
  for (let count = 0; count < 4; count++) copy[chance.between(0, copy.length - 1)] = chance.between(0, 255);
  return copy;
}

/** Sends it. @returns the defect of the response; undefined when it has none */
export async function ask(client: RawClient, world: World, request: FuzzRequest): Promise<string | undefined> {
  const { operation, line, raw } = request;
  const shown = `${line.slice(0, 300)} ${String(raw === undefined ? '' : raw.slice(0, 600))}`;
  const head = endless.test(operation.path) ? { readBytes: 1 } : {};
  try {
    const reply = await client.send(line, { ...(raw !== undefined && { raw }), ...head, limitMs });
    if (operation.path.endsWith('/export') && reply.status === 200 && reply.bytes.length < 500_000) world.archive = reply.bytes;
    if (reply.status === 201) world.learn(operation.path, jsonOf(reply));
    return judge(operation, reply) ? undefined : `${shown}: ${reply.status} ${reply.text().slice(0, 500)}`;
  } catch (error) {
    return `${shown}: ${String(error)}`;
  }
}

function judge({ successes, path }: Operation, reply: Reply): boolean {
  if (successes.includes(reply.status) || reply.status === 304) return true;
  // A proxied response has the status of the remote compute.
  if (path.startsWith('/v2/computes/') && reply.status < 300) return true;
  if (!refusals.has(reply.status)) return false;
  if (endless.test(path)) return true;
  const body = jsonOf(reply) as { message?: unknown } | undefined;
  return reply.status === 404 || reply.status === 405 || typeof body?.message === 'string';
}

function jsonOf(reply: Reply): unknown {
  try {
    return reply.json();
  } catch {
    return undefined;
  }
}
