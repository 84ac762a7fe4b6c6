/** Routes that plan and apply lab files, in threads that call the server's own routes. */
import { fault } from '../src/api/faults.ts';
import { type Route, route, Stream } from '../src/api/route.ts';
import { LabApply, LabPlanReply, LabRequest } from '../src/schema/lab.ts';
import type { NodeType } from '../src/schema/node.ts';
import type { Project } from '../src/schema/project.ts';
import { Type } from '../src/schema/type.ts';
import { LabFile } from './file/lab-schema.ts';
import { type LabCatalog, readCatalog, readSchemas } from './state/lab-state.ts';
import type { RoutesApi } from './state/routes-api.ts';
import { jobOf } from './thread/lab-job.ts';
import { LabThreads } from './thread/lab-threads.ts';
import { lineStream } from './thread/line-stream.ts';

/** `api`: the server itself. `onError`: logs an error. */
export function labRoutes(api: RoutesApi, onError: (error: unknown) => void): Route[] {
  const threads = new LabThreads(api);
  return [
    route(
      'GET /lab.schema.json',
      {
        right: 'login',
        summary: 'JSON Schema of lab files, with the properties of each kind of node',
        reply: Type.Record(Type.String(), Type.Unknown()),
        own: true,
      },
      async () => {
        const { kinds } = await readCatalog(api);
        return schemaDocument({ kinds, schemas: await readSchemas(api, kinds.keys()) });
      },
    ),
    route(
      'POST /v2/labs/plan',
      {
        right: 'login',
        summary: 'Plan the changes of a lab file without applying them',
        body: LabRequest,
        reply: LabPlanReply,
        own: true,
      },
      async (call) => {
        const pieces: Uint8Array[] = [];
        for await (const piece of threads.run(jobOf('plan', call.body), call)) pieces.push(piece);
        return new Stream('application/json', Buffer.concat(pieces));
      },
    ),
    exportRoute(api, threads),
    route(
      'POST /v2/labs/apply',
      {
        right: 'login',
        summary:
          'Create or change a project until it is as a lab file says; one JSON document a line while it does, and the result at last',
        body: LabApply,
        replyType: 'application/x-ndjson',
        fillsDisk: true,
        own: true,
      },
      async (call) => {
        const job = { ...jobOf('apply', call.body), start: call.body.start === true, strict: call.body.strict === true };
        return lineStream(threads.run(job, call), onError);
      },
    ),
  ];
}

function exportRoute(api: RoutesApi, threads: LabThreads): Route {
  return route(
    'GET /v2/projects/{project_id}/lab.yaml',
    { right: 'Project.Audit', summary: 'Read a project as a lab file', replyType: 'application/yaml', own: true },
    async (call) => {
      const { name, status } = await api.json<Project>('GET', `/v2/projects/${call.path.project_id}`);
      if (status !== 'opened') throw fault('project_closed', { name: name ?? '' });
      const pieces: Uint8Array[] = [];
      const job = jobOf('export', { lab: '', project: call.path.project_id });
      for await (const piece of threads.run(job, call)) pieces.push(piece);
      return new Stream('application/yaml', Buffer.concat(pieces));
    },
  );
}

/** Builds `/lab.schema.json` for editors (draft 2020-12): the lab file's schema with the properties of each kind. */
function schemaDocument({ kinds, schemas }: Pick<LabCatalog, 'kinds' | 'schemas'>): object {
  const document = JSON.parse(JSON.stringify(LabFile)) as {
    properties: { nodes: { patternProperties: Record<string, { anyOf: object[] }> } };
  };
  const [node] = Object.values(document.properties.nodes.patternProperties);
  const [spec] = node?.anyOf ?? [];
  if (spec) Object.assign(spec, { allOf: [...kinds.keys()].map((type) => ofKind(type, schemas.get(type) ?? {})) });
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Lab file of Patchbay', ...document };
}

/** Gives a node with a kind the properties of this kind. */
function ofKind(type: NodeType, properties: Readonly<Record<string, object>>): object {
  return Object.fromEntries([
    ['if', { required: ['kind'], properties: { kind: { const: type } } }],
    ['then', { properties: { properties: { type: 'object', properties, additionalProperties: false } } }],
  ]);
}
