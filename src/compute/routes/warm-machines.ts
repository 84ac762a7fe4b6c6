/** Machines that templates hold, with their memory. Ours. */
import { computeRoute } from '../../api/route.ts';
import { Name, strict, Uuid } from '../../schema/common.ts';
import { WarmMachine } from '../../schema/compute-node.ts';
import { Type } from '../../schema/type.ts';
import type { ComputeRouteContext } from './route-context.ts';

const WarmMachineKeep = Type.Object({ machine_id: Uuid, node_id: Uuid }, strict);
const WarmMachineCopy = Type.Object({ node_id: Uuid, template: Name({ description: 'Its name, for messages' }) }, strict);
const WarmMachinePrune = Type.Object({ kept: Type.Array(Uuid) }, strict);

export function warmMachineRoutes({ warmMachines }: ComputeRouteContext) {
  return [
    computeRoute(
      'POST /v2/compute/projects/{project_id}/warm_machines',
      {
        summary: 'Keep a copy of a running machine with its memory, under a new id',
        body: WarmMachineKeep,
        reply: WarmMachine,
        status: 201,
        own: true,
      },
      ({ path, body }) => warmMachines.keep(path.project_id, body.node_id, body.machine_id),
    ),
    computeRoute(
      'POST /v2/compute/projects/{project_id}/warm_machines/{machine_id}/copy',
      { summary: 'Give a stopped node the disks and the memory of a kept machine', body: WarmMachineCopy, status: 204, own: true },
      ({ path, body }) => warmMachines.copy(path.project_id, body.node_id, { machineId: path.machine_id, source: body.template }),
    ),
    computeRoute(
      'DELETE /v2/compute/warm_machines/{machine_id}',
      { summary: 'Delete a kept machine; nodes that were made from it stay', status: 204, own: true },
      ({ path }) => warmMachines.remove(path.machine_id),
    ),
    computeRoute(
      'POST /v2/compute/warm_machines/prune',
      { summary: 'Delete all kept machines but these', body: WarmMachinePrune, status: 204, own: true },
      ({ body }) => warmMachines.prune(body.kept),
    ),
  ];
}
