import { fault } from '../../../api/faults.ts';
import { type Call, type Route, route, Tagged } from '../../../api/route.ts';
import { kinds } from '../../../emulators/kinds.ts';
import { named, nullable, Text } from '../../../schema/common.ts';
import type { NodeType } from '../../../schema/node.ts';
import { type Template, TemplateCreate, TemplateObject, TemplateUpdate, TemplateUse } from '../../../schema/template.ts';
import { Type } from '../../../schema/type.ts';
import type { TemplateExtras, Templates } from '../../catalog/templates.ts';
import { localComputeId } from '../../computes/compute.ts';
import type { Controller } from '../../controller.ts';
import type { ImageLibrary } from '../../library/image-library.ts';
import { imageProperties } from '../../model/node-images.ts';
import { checkRequested } from '../../model/requested-properties.ts';
import { hasMaxCpus } from './nodes.ts';
import type { DeclareTwin } from './twins.ts';

const { name: _name, strict: _strict, ...use } = TemplateUse.properties;
const TemplateUse3 = Type.Object({ ...use, name: Type.Optional(Type.Unknown()) }, named('TemplateUseOfV3'));

const details = {
  version: Type.Optional(nullable(Text({ maxLength: 255 }))),
  tags: Type.Optional(nullable(Type.Array(Text({ maxLength: 255 }), { maxItems: 100 }))),
};
const TemplateCreate3 = Type.Object(
  { ...TemplateCreate.properties, compute_id: Type.Optional(TemplateCreate.properties.compute_id), ...details },
  { title: 'TemplateCreateOfV3' },
);
const TemplateUpdate3 = Type.Object({ ...TemplateUpdate.properties, ...details }, { title: 'TemplateUpdateOfV3' });

export function templateRoutes(controller: Controller, twin: DeclareTwin, images: ImageLibrary): Route[] {
  const { templates } = controller;
  return [
    twin('GET /v3/templates', 'GET /v2/templates', {
      answer: (all: readonly Template[]) =>
        [...all.filter(({ builtin }) => !builtin), ...all.filter(({ builtin }) => builtin)].map((one) =>
          templateOf(one, templates),
        ),
    }),
    twin('GET /v3/templates/{template_id}', 'GET /v2/templates/{template_id}', {
      answer: ({ body }: Tagged) => new Tagged(templateOf(body as Template, templates)),
    }),
    ...changeRoutes(controller, images),
    deleteRoute(controller, twin, images),
    twin('POST /v3/templates/{template_id}/duplicate', 'POST /v2/templates/{template_id}/duplicate', {
      answer: (template: Template) => templateOf(template, templates),
      request: (call) => {
        requireOwn(templates, (call.path as { template_id: string }).template_id, 'duplicated');
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

function changeRoutes({ templates, settings }: Controller, images: ImageLibrary): Route[] {
  const check = async (
    node_type: NodeType,
    compute_id: string | null | undefined,
    properties: Readonly<Record<string, unknown>>,
  ) => {
    checkRequested({ node_type, properties }, settings);
    if (properties.ram === 0) throw fault('invalid_request', { reason: 'ram must be above 0' });
    await images.requireImages({ node_type, compute_id, properties });
  };
  return [
    route(
      'POST /v3/templates',
      {
        summary: 'Create a template; what its type needs besides is filled in',
        body: TemplateCreate3,
        status: 201,
        reply: TemplateObject,
        right: 'Template.Allocate',
      },
      async ({ body: { version, tags, ...body } }) => {
        const known = { compute_id: null, ...knownOf(body.template_type, body) } as unknown as TemplateCreate;
        await check(body.template_type, known.compute_id, known);
        const made = await templates.create(known, { details: extrasOf({ version, tags }), isNamedOnce: true });
        return templateOf(made, templates);
      },
    ),
    route(
      'PUT /v3/templates/{template_id}',
      { summary: 'Change a template', body: TemplateUpdate3, reply: TemplateObject, right: 'Template.Modify' },
      async ({ path: { template_id }, body: { version, tags, ...body } }) => {
        const { template_type, compute_id } = requireOwn(templates, template_id, 'changed');
        const known = knownOf(template_type, body);
        await check(template_type, compute_id, known);
        return templateOf(await templates.update(template_id, known, { details: extrasOf({ version, tags }) }), templates);
      },
    ),
  ];
}

/** Deletes a template, with `prune_images` its images too, unless something else uses one of them. */
function deleteRoute({ templates }: Controller, twin: DeclareTwin, images: ImageLibrary): Route {
  const deletion = twin('DELETE /v3/templates/{template_id}', 'DELETE /v2/templates/{template_id}', {
    query: { prune_images: Type.Boolean() },
  });
  return {
    ...deletion,
    handle: async (call: Call) => {
      const template = templates.get((call.path as { template_id: string }).template_id);
      if (template.builtin || call.query.prune_images !== 'true') return deletion.handle(call);
      const names = namesOf(template);
      await images.requireOnlyUser(template.template_id, template.template_type, names);
      await deletion.handle(call);
      for (const name of names) await images.remove(name);
      return undefined;
    },
  };
}

/** Returns the images of a template, each once. */
function namesOf(template: Template): string[] {
  const { template_type: node_type } = template;
  return [...new Set(imageProperties({ node_type, properties: template }).map((key) => String(template[key])))];
}

/** @throws template_not_found, template_built_in */
function requireOwn(templates: Templates, templateId: string, what: string): Template {
  const template = templates.get(templateId);
  if (template.builtin) throw fault('template_built_in', { name: template.name, what });
  return template;
}

function extrasOf({ version, tags }: { version: string | null | undefined; tags: string[] | null | undefined }) {
  return {
    ...(version !== undefined && { version }),
    ...(tags !== undefined && { tags: tags ?? [] }),
  } satisfies TemplateExtras['details'];
}

/** Returns a template as `/v3` shows it. */
export function templateOf(template: Template, templates: Templates): object {
  return {
    version: null,
    ...(hasMaxCpus.has(template.template_type) && { maxcpus: 1 }),
    ...template,
    ...templates.detailsOf(template.template_id),
  };
}

/** Keys of every template; a type has more. */
const common = new Set(Object.keys(TemplateCreate.properties));

/** Drops keys that a template of the type does not have, as GNS3 3.x does. */
function knownOf(type: NodeType, body: object): Readonly<Record<string, unknown>> {
  const own = kinds[type]?.template.properties ?? {};
  return Object.fromEntries(Object.entries(body).filter(([key]) => common.has(key) || Object.hasOwn(own, key)));
}
