import type { Route } from '../../../api/route.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

export function drawingRoutes(twin: DeclareTwin): Route[] {
  return [
    ...sameTwins(twin, [
      'GET /v3/projects/{project_id}/drawings',
      'POST /v3/projects/{project_id}/drawings',
      'GET /v3/projects/{project_id}/drawings/{drawing_id}',
      'DELETE /v3/projects/{project_id}/drawings/{drawing_id}',
    ]),
    twin('PUT /v3/projects/{project_id}/drawings/{drawing_id}', 'PUT /v2/projects/{project_id}/drawings/{drawing_id}', {
      status: 200,
    }),
  ];
}
