import { type Call, type Route, route } from '../../../api/route.ts';
import { SnapshotOutline } from '../../../schema/outline.ts';
import { Project } from '../../../schema/project.ts';
import { Snapshot, SnapshotCreate, SnapshotFork, SnapshotRestore } from '../../../schema/snapshot.ts';
import { Type } from '../../../schema/type.ts';
import { outlineOfSnapshot } from '../../archive/snapshot-outline.ts';
import type { Controller } from '../../controller.ts';
import type { KnownProject } from '../../projects/project.ts';
import { copyRight } from '../common-rights.ts';

export function snapshotRoutes(controller: Controller): Route[] {
  const { projects, snapshots } = controller;
  return [
    route(
      'GET /v2/projects/{project_id}/snapshots',
      { right: 'Snapshot.Audit', summary: 'List the snapshots of a project, oldest first', reply: Type.Array(Snapshot) },
      ({ path }) => snapshots.list(projects.get(path.project_id)),
    ),
    route(
      'POST /v2/projects/{project_id}/snapshots',
      {
        right: 'Snapshot.Allocate',
        fillsDisk: true,
        summary: 'Keep the state of a project, with memory too; machines that run are paused for the instant',
        body: SnapshotCreate,
        status: 201,
        reply: Snapshot,
      },
      ({ path, body }) => snapshots.create(projects.get(path.project_id), body),
    ),
    route(
      'DELETE /v2/projects/{project_id}/snapshots/{snapshot_id}',
      { right: 'Snapshot.Allocate', summary: 'Delete a snapshot', status: 204 },
      ({ path }) => snapshots.delete(projects.get(path.project_id), path.snapshot_id),
    ),
    route(
      'POST /v2/projects/{project_id}/snapshots/{snapshot_id}/restore',
      {
        right: 'Snapshot.Restore',
        summary: 'Bring a project to the state of a snapshot; nodes whose memory it has run again, others are stopped',
        body: SnapshotRestore,
        status: 201,
        reply: Project,
      },
      ({ path, body }) => snapshots.restore(projects.get(path.project_id), path.snapshot_id, body),
    ),
    route(
      'GET /v2/projects/{project_id}/snapshots/{snapshot_id}/outline',
      {
        right: 'Snapshot.Audit',
        summary: 'Nodes and links of a snapshot, for a picture of it',
        reply: SnapshotOutline,
        own: true,
      },
      async ({ path }) => {
        const project = projects.get(path.project_id);
        return outlineOfSnapshot(project, await snapshots.find(project, path.snapshot_id));
      },
    ),
    ...forkRoutes(controller),
  ];
}

/** Adds copies of a project to its pools. */
async function joined(
  { caller }: { readonly caller?: Call['caller'] },
  of: string,
  copies: readonly KnownProject[],
): Promise<object[]> {
  for (const { id } of copies) await caller?.joinPools?.(of, id);
  return copies.map(({ object }) => object);
}

function forkRoutes(controller: Controller): Route[] {
  return [
    route(
      'POST /v2/projects/{project_id}/snapshots/{snapshot_id}/fork',
      {
        right: copyRight,
        fillsDisk: true,
        summary: 'Make new projects of a snapshot; nodes whose memory it has run in them',
        body: SnapshotFork,
        status: 201,
        reply: Type.Array(Project),
        own: true,
      },
      async ({ path, body, ...call }) => {
        const { id } = controller.projects.get(path.project_id);
        return joined(call, id, await controller.fork(id, path.snapshot_id, body));
      },
    ),
    route(
      'POST /v2/projects/{project_id}/fork',
      {
        right: copyRight,
        fillsDisk: true,
        summary: 'Make new projects of an open one as it is now, in which machines continue',
        body: SnapshotFork,
        status: 201,
        reply: Type.Array(Project),
        own: true,
      },
      async ({ path, body, ...call }) => {
        const { id } = controller.projects.get(path.project_id);
        return joined(call, id, await controller.forkNow(id, body));
      },
    ),
  ];
}
