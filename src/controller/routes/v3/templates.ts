import { fault } from '../../../api/faults.ts';
import { type Call, type Route, Tagged } from '../../../api/route.ts';
import { kinds } from '../../../emulators/kinds.ts';
import { named } from '../../../schema/common.ts';
import type { NodeType } from '../../../schema/node.ts';
import { type Template, TemplateCreate, TemplateUpdate, TemplateUse } from '../../../schema/template.ts';
import { Type } from '../../../schema/type.ts';
import { localComputeId } from '../../computes/compute.ts';
import type { Controller } from '../../controller.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

const { name: _name, strict: _strict, ...use } = TemplateUse.properties;
const TemplateUse3 = Type.Object({ ...use, name: Type.Optional(Type.Unknown()) }, named('TemplateUseOfV3'));

export function templateRoutes({ templates }: Controller, twin: DeclareTwin): Route[] {
  const requireOwn = (call: Call, what: string): Template => {
    const template = templates.get((call.path as { template_id: string }).template_id);
    if (template.builtin) throw fault('template_built_in', { name: template.name, what });
    return template;
  };
  const one = { answer: (template: Template) => templateOf(template) };
  return [
    twin('GET /v3/templates', 'GET /v2/templates', {
      answer: (all: readonly Template[]) =>
        [...all.filter(({ builtin }) => !builtin), ...all.filter(({ builtin }) => builtin)].map(templateOf),
    }),
    twin('POST /v3/templates', 'POST /v2/templates', {
      ...one,
      body: optionalCompute(TemplateCreate),
      request: (call) => {
        const body = call.body as { template_type: NodeType; compute_id?: string | null };
        return { ...call, body: { compute_id: null, ...knownOf(body.template_type, body) } };
      },
    }),
    twin('GET /v3/templates/{template_id}', 'GET /v2/templates/{template_id}', {
      answer: ({ body }: Tagged) => new Tagged(templateOf(body as Template)),
    }),
    twin('PUT /v3/templates/{template_id}', 'PUT /v2/templates/{template_id}', {
      ...one,
      body: TemplateUpdate,
      request: (call) => {
        const { template_type } = requireOwn(call, 'changed');
        return { ...call, body: knownOf(template_type, call.body as object) };
      },
    }),
    ...sameTwins(twin, ['DELETE /v3/templates/{template_id}']),
    twin('POST /v3/templates/{template_id}/duplicate', 'POST /v2/templates/{template_id}/duplicate', {
      ...one,
      request: (call) => {
        requireOwn(call, 'duplicated');
        return call;
      },
    }),
    twin('POST /v3/projects/{project_id}/templates/{template_id}', 'POST /v2/projects/{project_id}/templates/{template_id}', {
      body: TemplateUse3,
      request: (call) => {
        const { name: _, compute_id, ...body } = call.body as { name?: unknown; compute_id?: string | null };
        return { ...call, body: { ...body, compute_id: compute_id || localComputeId } };
      },
    }),
  ];
}

function optionalCompute<T extends typeof TemplateCreate>({ properties }: T) {
  return Type.Object({ ...properties, compute_id: Type.Optional(properties.compute_id) }, { title: 'TemplateCreateOfV3' });
}

/** Returns a template as `/v3` shows it. */
function templateOf(template: Template): object {
  return { version: null, ...template };
}

/** Keys of every template; a type has more. */
const common = new Set(Object.keys(TemplateCreate.properties));

/** Drops keys that a template of the type does not have, as GNS3 3.x does. */
function knownOf(type: NodeType, body: object): object {
  const own = kinds[type]?.template.properties ?? {};
  return Object.fromEntries(Object.entries(body).filter(([key]) => common.has(key) || Object.hasOwn(own, key)));
}
