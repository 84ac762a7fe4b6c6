import { computeRoute } from '../../api/route.ts';
import { Name, nullable, strict, Uuid } from '../../schema/common.ts';
import { ComputeProject, UdpPort } from '../../schema/compute-node.ts';
import { ComputeNodeRun } from '../../schema/node-runs.ts';
import { ProjectUpdate } from '../../schema/project.ts';
import { Type } from '../../schema/type.ts';
import type { ComputeRouteContext } from './route-context.ts';

/** The compute takes a controller's whole project and uses the name, the folder, the id, the variables and `replicate_link_state`. */
const Create = Type.Object(
  {
    ...ProjectUpdate.properties,
    name: nullable(Name()),
    project_id: Type.Optional(nullable(Uuid)),
    incarnation: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Not in GNS3: grows when the project is rewound; machines and files of a lower one are removed first',
      }),
    ),
    number_from: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 255,
        description: 'Not in GNS3: nodes with numbers get the first free one from here on',
      }),
    ),
  },
  strict,
);
const Update = Type.Object({ ...ProjectUpdate.properties, name: Type.Optional(nullable(Name())) }, strict);
export function projectRoutes({ projects }: ComputeRouteContext) {
  return [
    computeRoute(
      'GET /v2/compute/projects',
      { summary: 'List the projects opened on this compute', reply: Type.Array(ComputeProject) },
      () => projects.list().map((project) => project.present()),
    ),
    computeRoute(
      'POST /v2/compute/projects',
      { summary: 'Open a project on this compute', reply: ComputeProject, body: Create, status: 201 },
      async ({ body }) => (await projects.create(body)).present(),
    ),
    computeRoute('GET /v2/compute/projects/{project_id}', { summary: 'Get a project', reply: ComputeProject }, ({ path }) =>
      projects.get(path.project_id).present(),
    ),
    computeRoute(
      'GET /v2/compute/projects/{project_id}/nodes',
      {
        summary: 'List all nodes of a project, of every kind: whether they run, with which start, and how their last run ended',
        reply: Type.Array(ComputeNodeRun),
        own: true,
      },
      ({ path }) => [...projects.get(path.project_id).nodes.values()].map((node) => node.runs.presentRun()),
    ),
    computeRoute(
      'PUT /v2/compute/projects/{project_id}',
      {
        summary: 'Set the variables of a project, and whether its guests see the state of links',
        reply: ComputeProject,
        body: Update,
      },
      async ({ path, body }) => {
        const project = projects.get(path.project_id);
        await project.update({ variables: body.variables ?? null, replicate_link_state: body.replicate_link_state ?? false });
        return project.present();
      },
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/close',
      { summary: 'Stop and forget the nodes of a project', status: 204 },
      ({ path }) => projects.close(path.project_id),
    ),
    computeRoute(
      'DELETE /v2/compute/projects/{project_id}',
      { summary: 'Close a project and delete its folder', status: 204 },
      ({ path }) => projects.delete(path.project_id),
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/ports/udp',
      { summary: 'Take a UDP port for a NIO', reply: UdpPort, status: 201 },
      async ({ path }) => ({
        udp_port: await projects.get(path.project_id).takeUdpPort(),
      }),
    ),
  ];
}
