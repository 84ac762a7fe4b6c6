import { route } from '../../api/route.ts';
import { Name, nullable, strict, Uuid } from '../../schema/common.ts';
import { ComputeFreeze, ComputeProject, UdpPort } from '../../schema/compute-node.ts';
import { ProjectUpdate } from '../../schema/project.ts';
import { Type } from '../../schema/type.ts';
import { copyProject } from '../projects/copy.ts';
import { stageMemory } from '../projects/stage-memory.ts';
import type { ComputeRouteContext } from './route-context.ts';

/** The compute takes a controller's whole project and uses the name, the folder, the id, the variables and `replicate_link_state`. */
const Create = Type.Object(
  {
    ...ProjectUpdate.properties,
    name: nullable(Name()),
    project_id: Type.Optional(nullable(Uuid)),
    number_from: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 255, description: 'Ours: nodes with numbers get the first free one from here on' }),
    ),
  },
  strict,
);
const Update = Type.Object({ ...ProjectUpdate.properties, name: Type.Optional(nullable(Name())) }, strict);
const copyFields = {
  destination_project_id: Uuid,
  destination_path: Type.Optional(
    Name({ description: 'Existing folder of the copy, absolute. Without it: the folder of the project, which must be known' }),
  ),
  nodes: Type.Record(Type.String(), Uuid, { description: 'Id of each node to the id of its copy' }),
  leave_out: Type.Optional(Type.Array(Name(), { description: 'Folders directly in project-files that are not copied' })),
};
const Copy = Type.Object(copyFields, strict);
const FreezeRequest = Type.Object(
  { ...copyFields, memory_path: Name({ description: 'Existing folder for the memory, absolute' }) },
  strict,
);
const Destination = Type.Object({ path: Name(), nodes: copyFields.nodes }, strict);
const StageMemory = Type.Object(
  {
    source_path: Name({ description: 'Folder of the saved memory, absolute' }),
    destinations: Type.Array(Destination, { maxItems: 50, description: 'Existing folders of projects, absolute, and their nodes' }),
  },
  strict,
);

export function projectRoutes({ context, projects, freezes, resumedLinks }: ComputeRouteContext) {
  return [
    route(
      'GET /v2/compute/projects',
      { summary: 'List the projects opened on this compute', reply: Type.Array(ComputeProject) },
      () => projects.list().map((project) => project.present()),
    ),
    route(
      'POST /v2/compute/projects',
      { summary: 'Open a project on this compute', reply: ComputeProject, body: Create, status: 201 },
      async ({ body }) => (await projects.create(body)).present(),
    ),
    route('GET /v2/compute/projects/{project_id}', { summary: 'Get a project', reply: ComputeProject }, ({ path }) =>
      projects.get(path.project_id).present(),
    ),
    route(
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
    route(
      'POST /v2/compute/projects/{project_id}/close',
      { summary: 'Stop and forget the nodes of a project', status: 204 },
      ({ path }) => projects.close(path.project_id),
    ),
    route(
      'DELETE /v2/compute/projects/{project_id}',
      { summary: 'Close a project and delete its folder', status: 204 },
      ({ path }) => projects.delete(path.project_id),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/ports/udp',
      { summary: 'Take a UDP port for a NIO', reply: UdpPort, status: 201 },
      async ({ path }) => ({
        udp_port: await projects.get(path.project_id).takeUdpPort(),
      }),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/copy',
      {
        summary: "Copy the nodes' files of a project to another project, or to a folder",
        empty: true,
        body: Copy,
        status: 201,
        own: true,
      },
      async ({ path, body }) => void (await copyProject({ context, projects }, path.project_id, body)),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/freeze',
      {
        summary: 'Copy the files of a project and the memory of its machines, which are paused for the instant',
        body: FreezeRequest,
        reply: ComputeFreeze,
        status: 201,
        own: true,
      },
      ({ path, body }) => freezes.freeze(path.project_id, body),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/freeze/wait',
      { summary: 'Wait until the memory that was frozen last is complete', status: 204, own: true },
      ({ path }) => freezes.wait(path.project_id),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/keep',
      {
        summary: 'Stop the machines of a project so that they continue at their next start; others run on',
        reply: ComputeFreeze,
        status: 201,
        own: true,
      },
      ({ path }) => freezes.keep(path.project_id),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/links/hold',
      { summary: 'Hold the links of a project that is about to continue', status: 204, own: true },
      ({ path }) => resumedLinks.hold(path.project_id),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/links/release',
      { summary: 'Release held links, with the frames that were in flight when the project was frozen', status: 204, own: true },
      ({ path }) => resumedLinks.release(path.project_id),
    ),
    route(
      'POST /v2/compute/projects/{project_id}/memory',
      { summary: 'Check saved memory, and copy it to the folders of nodes', body: StageMemory, status: 204, own: true },
      ({ path, body }) => stageMemory({ context, projects }, path.project_id, body),
    ),
  ];
}
