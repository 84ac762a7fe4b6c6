/** Copies of a project on one compute: the files of its nodes, and the memory of its machines at one instant. Ours. */
import { computeRoute } from '../../api/route.ts';
import { Name, strict, Uuid } from '../../schema/common.ts';
import { ComputeFreeze } from '../../schema/compute-node.ts';
import { Type } from '../../schema/type.ts';
import { copyProject } from '../projects/copy.ts';
import { stageMemory } from '../projects/stage-memory.ts';
import type { ComputeRouteContext } from './route-context.ts';

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
    last_use: Type.Optional(
      Type.Boolean({ description: 'The source is on the disk of the destinations and is not needed any more: it is moved' }),
    ),
  },
  strict,
);

export function projectCopyRoutes({ context, projects, freezes, resumedLinks }: ComputeRouteContext) {
  return [
    computeRoute(
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
    computeRoute(
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
    computeRoute(
      'POST /v2/compute/projects/{project_id}/freeze/wait',
      { summary: 'Wait until the memory that was frozen last is complete', status: 204, own: true },
      ({ path }) => freezes.wait(path.project_id),
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/keep',
      {
        summary: 'Stop the machines of a project so that they continue at their next start; others run on',
        reply: ComputeFreeze,
        status: 201,
        own: true,
      },
      ({ path }) => freezes.keep(path.project_id),
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/links/hold',
      { summary: 'Hold the links of a project that is about to continue', status: 204, own: true },
      ({ path }) => resumedLinks.hold(path.project_id),
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/links/release',
      { summary: 'Release held links, with the frames that were in flight when the project was frozen', status: 204, own: true },
      ({ path }) => resumedLinks.release(path.project_id),
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/memory',
      { summary: 'Check saved memory, and copy it to the folders of nodes', body: StageMemory, status: 204, own: true },
      ({ path, body }) => stageMemory({ context, projects }, path.project_id, body),
    ),
  ];
}
