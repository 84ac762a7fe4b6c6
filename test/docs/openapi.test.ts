/** The OpenAPI document is valid in its essentials and covers every route, and docs/api.md explains our additions. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Compile } from 'typebox/compile';
import type { ApiDocument, Operation } from '../../src/api/openapi/document.ts';
import { implementedTypes } from '../../src/emulators/kinds.ts';
import { Type } from '../../src/schema/type.ts';
import { serverProgram } from '../support/server.ts';

const root = resolve(import.meta.dirname, '../..');

/** Schemas of the parts of the document, as OpenAPI 3.1 requires. Source: the OpenAPI Specification 3.1.1, §4.8. */
const anyObject = Type.Record(Type.String(), Type.Unknown());
const Content = Type.Record(Type.String(), Type.Object({ schema: anyObject }, { additionalProperties: false }));
const Reference = Type.Object({ $ref: Type.String({ pattern: '^#/components/' }) }, { additionalProperties: false });
const Response = Type.Object(
  { description: Type.String({ minLength: 1 }), content: Type.Optional(Content) },
  { additionalProperties: false },
);
const Parameter = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    in: Type.Unsafe<string>({ enum: ['path', 'query'] }),
    required: Type.Boolean(),
    description: Type.Optional(Type.String()),
    schema: anyObject,
  },
  { additionalProperties: false },
);
const OperationShape = Type.Object(
  {
    operationId: Type.String({ pattern: '^[a-z]\\w*$' }),
    summary: Type.String({ minLength: 5 }),
    tags: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    parameters: Type.Array(Parameter),
    requestBody: Type.Optional(Type.Object({ required: Type.Boolean(), content: Content }, { additionalProperties: false })),
    responses: Type.Unsafe<object>({
      type: 'object',
      minProperties: 2,
      patternProperties: { '^([1-5]\\d\\d|default)$': Type.Union([Reference, Response]) },
      additionalProperties: false,
    }),
    'x-patchbay-own': Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
const Document = Type.Object(
  {
    openapi: Type.String({ pattern: '^3\\.1\\.\\d+$' }),
    info: Type.Object({ title: Type.String(), version: Type.String(), description: Type.String(), license: anyObject }),
    servers: Type.Array(Type.Object({ url: Type.String() })),
    security: Type.Array(anyObject),
    tags: Type.Array(Type.Object({ name: Type.String() })),
    paths: Type.Unsafe<object>({
      type: 'object',
      patternProperties: { '^/': Type.Record(Type.String(), OperationShape) },
      additionalProperties: false,
    }),
    components: Type.Object({
      schemas: Type.Record(Type.String(), anyObject),
      responses: Type.Record(Type.String(), Response),
      securitySchemes: anyObject,
    }),
  },
  { additionalProperties: false },
);

/** JSON responses without a schema in the document: pass-through responses of a compute, and responses that no kind here gives. */
const withoutSchema = [
  'GET /openapi.json',
  'GET /v2/computes/{compute_id}/{emulator}/{action}',
  'POST /v2/computes/{compute_id}/{emulator}/{action}',
  'PUT /v2/computes/{compute_id}/{emulator}/{action}',
  'POST /v2/compute/projects/{project_id}/vmware/nodes/{node_id}/interfaces/vmnet',
  'GET /v2/compute/virtualbox/vms',
  'GET /v2/compute/vmware/vms',
].flatMap((line) => (line.includes(' /v2/') ? [line, line.replace(' /v2/', ' /v3/')] : [line]));

interface Described {
  readonly line: string;
  readonly path: string;
  readonly operation: Operation;
}

describe('patchbay openapi', () => {
  let document: ApiDocument;
  let operations: Described[] = [];
  before(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [serverProgram, 'openapi'], {
      maxBuffer: 64 * 1024 * 1024,
    });
    document = JSON.parse(stdout) as ApiDocument;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ line: `${method.toUpperCase()} ${path}`, path, operation })),
    );
  });

  it('has the form of OpenAPI 3.1', () => {
    const validator = Compile(Document);
    assert.deepEqual(validator.Check(document) ? [] : validator.Errors(document), []);
  });

  it('ends quietly when its reader has enough', async () => {
    const child = spawn(process.execPath, [serverProgram, 'openapi'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.once('data', () => child.stdout.destroy());
    const [words, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.deepEqual([code, words], [0, '']);
  });

  it('covers the routes of controller, compute and server', () => {
    const lines = new Set(operations.map(({ line }) => line));
    assert.ok(lines.size > 400, `${lines.size} routes`);
    for (const line of ['GET /openapi.json', 'GET /api', 'GET /v2/projects', 'GET /v2/compute/projects', 'POST /v2/demo_lab'])
      assert.ok(lines.has(line), line);
  });

  it('names each operation once, and declares the parameters of its path', () => {
    const names = operations.map(({ operation }) => operation.operationId);
    assert.equal(new Set(names).size, names.length);
    for (const { line, path, operation } of operations) {
      const inPath = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      const expected = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
      assert.deepEqual(inPath, expected, line);
    }
  });

  it('refers only to defined components, and uses all of them', () => {
    const referred = new Set([...JSON.stringify(document).matchAll(/"#\/components\/(\w+\/\w+)"/g)].map(([, name]) => name));
    const { schemas, responses } = document.components;
    const named = [
      ...Object.keys(schemas).map((name) => `schemas/${name}`),
      ...Object.keys(responses).map((n) => `responses/${n}`),
    ];
    assert.deepEqual([...referred].sort(), named.sort());
  });

  it('gives the body of a change as the schema that validates it', () => {
    const { put } = document.paths['/v2/projects/{project_id}/nodes/{node_id}'] ?? {};
    assert.deepEqual(put?.requestBody?.content['application/json']?.schema, { $ref: '#/components/schemas/NodeUpdate' });
    const update = document.components.schemas.NodeUpdate as { additionalProperties: boolean; properties: Record<string, object> };
    assert.equal(update.additionalProperties, false);
    assert.deepEqual(update.properties.console, { anyOf: [{ minimum: 1, maximum: 65535, type: 'integer' }, { type: 'null' }] });
  });

  it('has a schema for every JSON answer but these', () => {
    const without = operations.filter(({ operation }) =>
      Object.entries(operation.responses).some(([status, response]) => {
        const schema = 'content' in response ? response.content?.['application/json']?.schema : undefined;
        return status.startsWith('2') && schema !== undefined && Object.keys(schema).length === 0;
      }),
    );
    assert.deepEqual(without.map(({ line }) => line).toSorted(), withoutSchema.toSorted());
  });

  it('marks additions to the GNS3 API, and docs/api.md explains exactly these', async () => {
    const text = await readFile(resolve(root, 'docs/api.md'), 'utf8');
    const explained = [...text.matchAll(/^### `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`/gm)].map(([, line]) => line);
    const ofAnyKind = new RegExp(
      `(/v2/compute(?:/projects/{project_id})?)/(?:${implementedTypes.join('|')})/(?=nodes|images|new_images)`,
    );
    const own = operations.filter(({ operation }) => operation['x-patchbay-own']);
    const lines = new Set(own.map(({ line }) => line.replace(ofAnyKind, '$1/{node_type}/')));
    assert.deepEqual(explained.toSorted(), [...lines].toSorted());
  });
});
