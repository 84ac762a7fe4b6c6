import { fault } from '../../../api/faults.ts';
import { type Route, route } from '../../../api/route.ts';
import { History, historyLimit, Undone, UndoRequest, UndoUntilRequest } from '../../../schema/history.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import type { UndoDirection } from '../../live/history/project-undo.ts';
import type { KnownProject } from '../../projects/project.ts';
import { anyChange } from '../common-rights.ts';

const own = true;
const page = {
  limit: Type.Integer({ minimum: 1, maximum: historyLimit.most, default: historyLimit.usual, description: 'Entries at most' }),
  before: Type.Integer({ minimum: 1, description: 'Only changes before this seq' }),
};

export function historyRoutes({ projects }: Controller): Route[] {
  const body = UndoRequest;
  return [
    route(
      'GET /v2/projects/{project_id}/history',
      {
        right: 'Project.Audit',
        summary: 'Who changed what in an open project, the last change first',
        query: page,
        reply: History,
        own,
      },
      async ({ path, query }) => {
        const limit = numberOf('limit', query.limit, historyLimit.most) ?? historyLimit.usual;
        const before = numberOf('before', query.before, Number.MAX_SAFE_INTEGER);
        return (await projects.get(path.project_id).live()).undo.history(limit, before);
      },
    ),
    route(
      'POST /v2/projects/{project_id}/undo',
      {
        right: anyChange,
        summary: 'Undo the last step of an open project, or only if it is this one, or all steps after one',
        body: UndoUntilRequest,
        reply: Undone,
        own,
      },
      ({ path, body: { step, until } }) => {
        const project = projects.get(path.project_id);
        if (until === undefined) return take(project, 'undo', step);
        return project.changeAlone((live) => live.undo.takeUntil(until, step));
      },
    ),
    route(
      'POST /v2/projects/{project_id}/redo',
      { right: anyChange, summary: 'Redo the step that was undone last, or only if it is this one', body, reply: Undone, own },
      ({ path, body: { step } }) => take(projects.get(path.project_id), 'redo', step),
    ),
  ];
}

/** A step of several changes waits until no other change is under way; a step of one does not. */
async function take(project: KnownProject, direction: UndoDirection, step?: number): Promise<Undone> {
  const undone = await project.change((live) => live.undo.take(direction, step));
  return undone ?? project.changeAlone((live) => live.undo.takeAlone(direction, step));
}

/** @throws `invalid_request` */
function numberOf(name: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw fault('invalid_request', { reason: `${name} must be a whole number from 1 to ${most}` });
  return number;
}
