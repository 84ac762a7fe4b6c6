import { type Route, route } from '../../../api/route.ts';
import { Drawing, DrawingInput } from '../../../schema/drawing.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';

export function drawingRoutes({ projects }: Controller): Route[] {
  const project = (path: { project_id: string }) => projects.get(path.project_id);
  return [
    route(
      'GET /v2/projects/{project_id}/drawings',
      { right: 'Drawing.Audit', summary: 'List the drawings; of a closed project as they are stored', reply: Type.Array(Drawing) },
      async ({ path }) => {
        const live = await project(path).findLive();
        return live ? live.drawings.list() : [...(await project(path).stored()).drawings.values()];
      },
    ),
    route(
      'POST /v2/projects/{project_id}/drawings',
      { right: 'Drawing.Allocate', summary: 'Create a drawing', body: DrawingInput, status: 201, reply: Drawing },
      ({ path, body }) => project(path).change((live) => live.drawings.create(body)),
    ),
    route(
      'GET /v2/projects/{project_id}/drawings/{drawing_id}',
      { right: 'Drawing.Audit', summary: 'Get a drawing', reply: Drawing },
      async ({ path }) => {
        const live = await project(path).live();
        return live.drawings.get(path.drawing_id);
      },
    ),
    route(
      'PUT /v2/projects/{project_id}/drawings/{drawing_id}',
      { right: 'Drawing.Modify', summary: 'Change a drawing', body: DrawingInput, status: 201, reply: Drawing },
      ({ path, body }) => project(path).change((live) => live.drawings.update(path.drawing_id, body)),
    ),
    route(
      'DELETE /v2/projects/{project_id}/drawings/{drawing_id}',
      { right: 'Drawing.Allocate', summary: 'Delete a drawing', status: 204 },
      ({ path }) => project(path).change((live) => live.drawings.delete(path.drawing_id)),
    ),
  ];
}
