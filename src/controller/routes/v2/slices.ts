import { fault } from '../../../api/faults.ts';
import { type Route, route } from '../../../api/route.ts';
import {
  SliceDrain,
  SliceInvitation,
  SliceInvite,
  SliceJoin,
  SliceLease,
  SliceObject,
  SliceOrderRequest,
  SliceRenew,
} from '../../../schema/slice.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import { PlacementReply, PlacementRequest, ProjectPlacement } from '../../placement/placement-request.ts';

const namedProjects = 5;
const force = { force: Type.Optional(Type.Boolean({ description: 'Close the projects that have nodes there' })) };

/** Computes that register themselves. */
export function sliceRoutes(controller: Controller): Route[] {
  const { computes, relocation, cluster } = controller;
  const { slices, list, engineSlices } = cluster;
  return [
    route(
      'GET /v2/slices',
      { right: 'Compute.Audit /computes', summary: 'List the slices and their states', reply: Type.Array(SliceObject), own: true },
      () => list.all(),
    ),
    route(
      'POST /v2/slices',
      {
        right: 'Compute.Allocate /computes',
        summary: 'Order a slice from the engine; it is pending until it joins',
        body: SliceOrderRequest,
        status: 201,
        reply: SliceObject,
        own: true,
      },
      async ({ body }) => list.get(await engineSlices.order(body)),
    ),
    deletion(controller),
    route(
      'POST /v2/slices/{compute_id}/drain',
      {
        right: 'Compute.Modify /computes',
        summary: 'Move the nodes of a slice to other computes, with their files; nothing is placed on it any more',
        body: SliceDrain,
        status: 202,
        reply: SliceObject,
        own: true,
      },
      async ({ path, body }) => {
        const compute = computes.get(path.compute_id);
        await slices.setDraining(path.compute_id, body.drain ?? true);
        relocation.look(compute);
        return list.get(path.compute_id);
      },
    ),
    route(
      'POST /v2/slices/invitations',
      {
        right: 'Compute.Allocate /computes',
        summary: 'Make a token with which one compute may join, once',
        body: SliceInvite,
        status: 201,
        reply: SliceInvitation,
        own: true,
      },
      ({ body }) => slices.invite(body),
    ),
    ...requestsOfSlices(controller),
  ];
}

function deletion(controller: Controller): Route {
  const { list } = controller.cluster;
  return route(
    'DELETE /v2/slices/{compute_id}',
    {
      right: 'Compute.Allocate /computes',
      summary: 'Delete a slice and its compute; with force also when open projects have nodes there, which are closed',
      query: force,
      status: 204,
      own: true,
    },
    async ({ path, query }) => {
      const { name } = list.get(path.compute_id);
      if (query.force !== 'true') refuseUsed(name, await controller.projects.openOn(path.compute_id));
      await controller.forgetCompute(path.compute_id);
    },
  );
}

/** @throws slice_in_use */
function refuseUsed(name: string, users: readonly { readonly name: string }[]): void {
  if (users.length === 0) return;
  const names = users.slice(0, namedProjects).map((project) => `"${project.name}"`);
  const more = users.length - names.length;
  throw fault('slice_in_use', { name, projects: `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}` });
}

export function placementRoutes({ placer, projects, cluster, copies }: Controller): Route[] {
  return [
    route(
      'GET /v2/projects/{project_id}/placement',
      {
        right: 'Project.Audit',
        summary: 'Where the nodes of an open project are and why, and what those wait for that cannot run there',
        reply: ProjectPlacement,
        own: true,
      },
      async ({ path }) =>
        placer.describe(await projects.get(path.project_id).live(), {
          hostOf: (id) => cluster.engineSlices.reportOf(id)?.host ?? null,
          copyOf: (id) => copies.describe(id),
        }),
    ),
    route(
      'POST /v2/placement',
      {
        right: 'Compute.Audit /computes',
        summary: 'Where the nodes of a lab would be placed',
        body: PlacementRequest,
        reply: PlacementReply,
        own: true,
      },
      ({ body }) => placer.plan(body),
    ),
  ];
}

/** Routes that slices call; each checks a token or a secret of its own. */
function requestsOfSlices({ cluster: { slices } }: Controller): Route[] {
  return [
    route(
      'POST /v2/slices/join',
      {
        summary: 'A compute registers itself with a token',
        body: SliceJoin,
        reply: SliceLease,
        own: true,
        right: 'secret',
      },
      ({ body }) => slices.join(body),
    ),
    route(
      'POST /v2/slices/{compute_id}/lease',
      { summary: 'A slice renews its lease', body: SliceRenew, reply: SliceLease, own: true, right: 'secret' },
      ({ path, body }) => slices.renew(path.compute_id, body),
    ),
  ];
}
