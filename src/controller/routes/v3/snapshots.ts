import type { Route } from '../../../api/route.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

export function snapshotRoutes(twin: DeclareTwin): Route[] {
  const restore = '/projects/{project_id}/snapshots/{snapshot_id}/restore' as const;
  return [
    ...sameTwins(twin, [
      'GET /v3/projects/{project_id}/snapshots',
      'POST /v3/projects/{project_id}/snapshots',
      'DELETE /v3/projects/{project_id}/snapshots/{snapshot_id}',
    ]),
    twin(`POST /v3${restore}`, `POST /v2${restore}`, { body: undefined }),
  ];
}
