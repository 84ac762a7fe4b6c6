/**
 * Every route of the running server and the fields of its JSON body, from the document that the server makes of its route table
 * (`GET /openapi.json`): a route that is added or renamed is tried here without an entry in a list.
 */
import { Compile } from 'typebox/schema';
import type { ApiDocument, Operation } from '../../src/api/openapi/document.ts';
import type { RawClient } from '../support/raw-http.ts';
import type { JsonRoute } from './json-route.ts';
import type { Sort } from './wrong-values.ts';

export interface ProgramRoute {
  readonly method: string;
  /** Brace form. */
  readonly template: string;
  /** Fields of its JSON body; undefined for a route without a body. */
  readonly body: BodyFields | undefined;
}

export interface BodyFields {
  readonly fields: Readonly<Record<string, Sort>>;
  /** Names of all top-level fields, including those whose type the schema leaves open. */
  readonly names: readonly string[];
  /** Other keys are taken. */
  readonly open: boolean;
  /** Whether the schema of the document refuses a body. */
  readonly refuses: (body: unknown) => boolean;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Routes of the API, `/v2/…`. */
export async function programRoutes(client: RawClient): Promise<ProgramRoute[]> {
  const document = await client.get<ApiDocument>('/openapi.json');
  return Object.entries(document.paths)
    .filter(([template]) => template.startsWith('/v2/'))
    .flatMap(([template, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        method: method.toUpperCase(),
        template,
        body: bodyOf(document, operation),
      })),
    )
    .sort((a, b) => (`${a.template} ${a.method}` < `${b.template} ${b.method}` ? -1 : 1));
}

/**
 * Routes to try: each route of `written`, and each other one that takes a JSON body; each with the fields that are written, and
 * those of which the program says more.
 * @throws a written route or field that the program does not have
 */
export function jsonRoutesOf(program: readonly ProgramRoute[], written: readonly JsonRoute[]): JsonRoute[] {
  const bodies = new Map(program.map(({ method, template, body }) => [shapeOf(`${method} ${template}`), body]));
  const unknown = written.flatMap((route) => unknownIn(route, bodies));
  if (unknown.length > 0) throw new Error(`the program does not have:\n${unknown.join('\n')}`);
  const shapes = new Set(written.map(({ line }) => shapeOf(line)));
  const derived = program.flatMap(({ method, template, body }): JsonRoute[] => {
    const line = `${method} ${template}`;
    if (!body || shapes.has(shapeOf(line))) return [];
    return [{ line: withFixtureIds(line), good: () => ({}), ...body }];
  });
  const completed = written.map((route) => {
    const body = bodies.get(shapeOf(route.line));
    return { ...route, fields: { ...body?.fields, ...route.fields }, ...(body && { refuses: body.refuses }) };
  });
  return [...completed, ...derived];
}

function unknownIn({ line, fields, relayed = false }: JsonRoute, bodies: ReadonlyMap<string, BodyFields | undefined>): string[] {
  const shape = shapeOf(line);
  const body = bodies.get(shape);
  if (relayed && bodies.has(shape)) return [];
  if (!body) return [bodies.has(shape) ? `a JSON body of ${line}` : line];
  const names = new Set(Object.keys(fields).map((field) => field.split('.', 1)[0] ?? ''));
  return [...names].filter((name) => !body.open && !body.names.includes(name)).map((name) => `${line}: ${name}`);
}

/** A shape that is the same for lines that differ in the names of parameters, or have adapter and port filled in. */
export function shapeOf(line: string): string {
  return line.replace(/\{\w+\}/g, '{}').replace(/\/(adapters|ports)\/0/g, '/$1/{}');
}

/** Names of ids as in `fixture.ts`, which has a node of most kinds. */
function withFixtureIds(line: string): string {
  const ofKind = (type: string) => (type === 'vpcs' ? 'node_id' : type === 'qemu' ? 'vm_id' : `${type}_id`);
  return line
    .replace(/\/(adapters|ports)\/\{\w+\}/g, '/$1/0')
    .replace(/\/(\w+)\/nodes\/\{node_id\}/, (_, type: string) => `/${type}/nodes/{${ofKind(type)}}`);
}

function bodyOf(document: ApiDocument, operation: Operation): BodyFields | undefined {
  const given = operation.requestBody?.content['application/json']?.schema as Schema | undefined;
  if (!given) return undefined;
  const schema = resolve(document, given);
  const properties = Object.entries(schema.properties ?? {});
  const sorts = properties.map(([name, property]) => [name, sortOf(document, property)] as const);
  return {
    fields: Object.fromEntries(sorts.filter((pair): pair is [string, Sort] => pair[1] !== undefined)),
    names: properties.map(([name]) => name),
    open: schema.additionalProperties !== false,
    refuses: checkOf(document, schema),
  };
}

/** Compiled on first use: few tests need it. */
function checkOf(document: ApiDocument, schema: Schema): (body: unknown) => boolean {
  let validator: ReturnType<typeof Compile> | undefined;
  return (body) => {
    validator ??= Compile(withoutReferences(document, schema) as object);
    return !validator.Check(body);
  };
}

function withoutReferences(document: ApiDocument, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(document, item));
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return withoutReferences(document, resolve(document, value as Schema));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutReferences(document, inner)]));
}

function resolve(document: ApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolve(document, (document.components.schemas[name] ?? {}) as Schema);
}

/** Follows from the type alone; undefined for a field of several types. */
function sortOf(document: ApiDocument, given: Schema): Sort | undefined {
  const schema = resolve(document, given);
  const choices = schema.anyOf?.map((choice) => resolve(document, choice));
  if (choices?.length === 2 && choices.some(({ type }) => type === 'null')) {
    const other = choices.find(({ type }) => type !== 'null');
    const sort = other && sortOf(document, other);
    return sort && { ...sort, nullable: true };
  }
  const { minimum, maximum } = schema;
  switch (schema.type) {
    case 'string':
      return { is: 'string' };
    case 'boolean':
      return { is: 'flag' };
    case 'array':
      return { is: 'list' };
    case 'object':
      return { is: 'object' };
    case 'integer':
      return { is: 'integer', ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) };
    default:
      return undefined;
  }
}
