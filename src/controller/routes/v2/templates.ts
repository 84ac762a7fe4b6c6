import { fault } from '../../../api/faults.ts';
import { type Route, route, Tagged } from '../../../api/route.ts';
import { DisksToConvert } from '../../../schema/image-use.ts';
import { Node } from '../../../schema/node.ts';
import {
  type Template,
  TemplateCreate,
  TemplateObject,
  TemplateUpdate,
  TemplateUse,
  WarmTemplateCreate,
} from '../../../schema/template.ts';
import { nodeFrom } from '../../../schema/template-node.ts';
import { Type } from '../../../schema/type.ts';
import { localComputeId } from '../../computes/compute.ts';
import { withConvertedDisks } from '../../computes/convert-disks.ts';
import type { Controller } from '../../controller.ts';
import { convertedTemplate } from '../../model/converted-machine.ts';
import { checkRequested } from '../../model/requested-properties.ts';

export function templateRoutes(controller: Controller): Route[] {
  const { templates, warmTemplates, settings } = controller;
  return [
    route(
      'GET /v2/templates',
      { right: 'login', summary: 'List the templates, built-in ones last', reply: Type.Array(TemplateObject) },
      () => templates.list(),
    ),
    route(
      'POST /v2/templates',
      {
        right: 'Template.Allocate',
        summary: 'Create a template; what its type needs besides is filled in',
        body: TemplateCreate,
        status: 201,
        reply: TemplateObject,
      },
      ({ body }) => {
        checkRequested({ node_type: String(body.template_type), properties: body }, settings);
        return templates.create(body);
      },
    ),
    route(
      'GET /v2/templates/{template_id}',
      { right: 'login', summary: 'Get a template', reply: TemplateObject },
      ({ path }) => new Tagged(templates.get(path.template_id)),
    ),
    route(
      'PUT /v2/templates/{template_id}',
      {
        right: 'Template.Modify',
        summary: 'Change a template; of a built-in one until the server ends',
        body: TemplateUpdate,
        reply: TemplateObject,
      },
      ({ path, body }) => {
        checkRequested({ node_type: templates.get(path.template_id).template_type, properties: body }, settings);
        return templates.update(path.template_id, body);
      },
    ),
    route(
      'DELETE /v2/templates/{template_id}',
      { right: 'Template.Allocate', summary: 'Delete a template', status: 204 },
      ({ path }) => warmTemplates.delete(path.template_id),
    ),
    route(
      'POST /v2/templates/{template_id}/duplicate',
      { right: 'Template.Allocate', summary: 'Copy a template', status: 201, reply: TemplateObject },
      ({ path }) => templates.duplicate(path.template_id),
    ),
    ...templateUseRoutes(controller),
  ];
}

function templateUseRoutes(controller: Controller): Route[] {
  const { templates, warmTemplates, projects, computes, settings } = controller;
  return [
    convertRoute(controller),
    warmRoute(controller),
    route(
      'POST /v2/projects/{project_id}/templates/{template_id}',
      { right: 'Node.Allocate', summary: 'Make a node from a template', body: TemplateUse, status: 201, reply: Node },
      async ({ path, body }) => {
        const project = projects.get(path.project_id);
        const template = templates.get(path.template_id);
        const { id } = computes.get(computeFor(template, body));
        checkRequested(nodeFrom(template, body, id), settings);
        return project.change((live) => warmTemplates.use(live, template, body, id));
      },
    ),
  ];
}

function warmRoute({ projects, warmTemplates }: Controller): Route {
  return route(
    'POST /v2/projects/{project_id}/nodes/{node_id}/warm_template',
    {
      right: ['Node.Modify', 'Template.Allocate /templates'],
      summary: 'Make a template that holds the booted machine of a running node; answered when it is on disk',
      body: WarmTemplateCreate,
      status: 201,
      reply: TemplateObject,
      own: true,
      fillsDisk: true,
    },
    ({ path, body }) => warmTemplates.keep(projects.get(path.project_id), path.node_id, body),
  );
}

function convertRoute({ templates, computes }: Controller): Route {
  return route(
    'POST /v2/templates/{template_id}/convert',
    {
      right: 'Template.Allocate',
      summary: 'Make a QEMU template of one of VirtualBox or VMware, whose disks are in the image folder; the old one stays',
      body: DisksToConvert,
      status: 201,
      reply: TemplateObject,
      own: true,
      fillsDisk: true,
    },
    ({ path, body }) => {
      const template = templates.get(path.template_id);
      const convert = convertedTemplate(template);
      const compute = computes.get(template.compute_id || localComputeId);
      return withConvertedDisks(compute, body.disks, (images) => templates.create(convert(images)));
    },
  );
}

/** @throws `compute_not_found` when neither says one */
function computeFor(template: Template, use: TemplateUse): string {
  const computeId = template.compute_id || use.compute_id;
  if (!computeId) throw fault('compute_not_found', { compute_id: 'None' });
  return computeId;
}
