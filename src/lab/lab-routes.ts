/** Labs over HTTP: planned and applied by the server, through its own routes. */
import { PassThrough } from 'node:stream';
import { fault, isFault } from '../api/faults.ts';
import { type Route, route, Stream } from '../api/route.ts';
import { LabApply, LabPlanReply, LabRequest } from '../schema/lab.ts';
import { Type } from '../schema/type.ts';
import { type ApplyProgress, applyPlan } from './apply.ts';
import type { Lab } from './file/lab.ts';
import { LabError } from './file/lab-error.ts';
import { LabLoader } from './file/load-in-thread.ts';
import { pictureOf } from './lab-picture.ts';
import type { PlannedLab } from './open-lab.ts';
import { linesOf } from './plan/lab-plan.ts';
import { schemaDocument } from './schema-document.ts';
import type { LabApi } from './state/lab-api.ts';
import { readCatalog, readSchemas } from './state/lab-state.ts';

/** `api`: the server itself. `onError`: for the log. */
export function labRoutes(api: LabApi, onError: (error: unknown) => void): Route[] {
  const loader = new LabLoader();
  return [
    route(
      'GET /lab.schema.json',
      {
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
      { summary: 'What applying a lab file would do', body: LabRequest, reply: LabPlanReply, own: true },
      async ({ body }) => {
        const lab = await loadSent(loader, body);
        const { plan, state } = await planSent(api, lab, body.project, false);
        return {
          name: plan.project.name,
          project_id: plan.project.id ?? null,
          steps: linesOf(plan),
          picture: pictureOf(lab, plan, state),
        };
      },
    ),
    route(
      'POST /v2/labs/apply',
      {
        summary:
          'Create or change a project until it is as a lab file says; one JSON document a line while it does, and the result at last',
        body: LabApply,
        replyType: 'application/x-ndjson',
        fillsDisk: true,
        own: true,
      },
      async ({ body, signal }) => {
        const lab = await loadSent(loader, body);
        const { plan } = await planSent(api, lab, body.project, true);
        const out = new PassThrough();
        const send = (line: object) => out.write(`${JSON.stringify(line)}\n`);
        send({ steps: linesOf(plan) });
        const onProgress = (progress: ApplyProgress) => void send(progress);
        void applyPlan(api, lab, plan, { start: body.start === true, onProgress, signal })
          .then(({ project_id, name }) => send({ project_id, name }))
          .catch((error: unknown) => {
            const failure = failureOf(error);
            if (failure === undefined && !signal.aborted) onError(error);
            send({ failure: failure ?? 'the server could not carry it out: see its log' });
          })
          .finally(() => out.end());
        return new Stream('application/x-ndjson', out);
      },
    ),
  ];
}

function loadSent(loader: LabLoader, { lab, files = {}, vars = {}, file = 'lab.yaml' }: LabRequest): Promise<Lab> {
  return loader.load({ text: typeof lab === 'string' ? lab : JSON.stringify(lab), file, files, vars });
}

/** @throws `lab_invalid` for what the server does not have, and faults of its routes */
async function planSent(api: LabApi, lab: Lab, project: string | undefined, open: boolean): Promise<PlannedLab> {
  // Loaded with the first lab: it needs the whole of typebox and of yaml, which a server that starts does not.
  const { planWithState } = await import('./open-lab.ts');
  try {
    return await planWithState(api, lab, { project, open });
  } catch (error) {
    if (error instanceof LabError) throw fault('lab_invalid', { reason: error.message }, { cause: error });
    throw error;
  }
}

/** In words for the client; undefined for an error of the server. */
function failureOf(error: unknown): string | undefined {
  return isFault(error) || error instanceof LabError ? (error as Error).message : undefined;
}
