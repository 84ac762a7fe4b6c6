import { type Route, route } from '../../../api/route.ts';
import { CheckpointStatus } from '../../../schema/checkpoint.ts';
import { Snapshot, SnapshotUpdate } from '../../../schema/snapshot.ts';
import type { Controller } from '../../controller.ts';

export function checkpointRoutes({ projects, checkpoints, snapshots }: Controller): Route[] {
  return [
    route(
      'GET /v2/projects/{project_id}/checkpoints',
      {
        right: 'Snapshot.Audit',
        summary: 'When the next checkpoint is due, and what snapshots take on disk',
        reply: CheckpointStatus,
        own: true,
      },
      ({ path }) => checkpoints.describe(projects.get(path.project_id)),
    ),
    route(
      'POST /v2/projects/{project_id}/checkpoints',
      {
        right: 'Snapshot.Allocate',
        fillsDisk: true,
        summary: 'Take a checkpoint now; the interval begins anew. Answers when its memory is on disk',
        status: 201,
        reply: Snapshot,
        own: true,
      },
      ({ path }) => checkpoints.take(projects.get(path.project_id)),
    ),
    route(
      'PUT /v2/projects/{project_id}/snapshots/{snapshot_id}',
      {
        right: 'Snapshot.Allocate',
        summary: 'Keep a checkpoint as an ordinary snapshot',
        body: SnapshotUpdate,
        reply: Snapshot,
        own: true,
      },
      ({ path }) => snapshots.keepCheckpoint(projects.get(path.project_id), path.snapshot_id),
    ),
  ];
}
