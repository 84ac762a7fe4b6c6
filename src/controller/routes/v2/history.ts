import { fault } from '../../../api/faults.ts';
import { requirePrivilege } from '../../../api/rights.ts';
import { type Call, type Route, route } from '../../../api/route.ts';
import { History, historyLimit, Undone, UndoRequest, UndoUntilRequest } from '../../../schema/history.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import type { UndoDirection } from '../../live/history/project-undo.ts';
import { anyChange } from '../common-rights.ts';

const own = true;
const page = {
  limit: Type.Integer({ minimum: 1, maximum: historyLimit.most, default: historyLimit.usual, description: 'Entries at most' }),
  before: Type.Integer({ minimum: 1, description: 'Only changes before this seq' }),
};

export function historyRoutes(controller: Controller): Route[] {
  const { projects } = controller;
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
        summary: 'Undo the last step of an open project, or only if it is this one, or another step alone, or all steps after one',
        body: UndoUntilRequest,
        reply: Undone,
        own,
      },
      (call) => {
        const { step, only, until } = call.body;
        if (until === undefined) return take(controller, call, 'undo');
        if (only !== undefined) throw fault('invalid_request', { reason: '"only" and "until" do not go together' });
        const project = projects.get(call.path.project_id);
        return project.changeAlone((live) => live.undo.takeUntil(until, step));
      },
    ),
    route(
      'POST /v2/projects/{project_id}/redo',
      {
        right: anyChange,
        summary: 'Redo the step that was undone last, or only if it is this one, or another one alone',
        body,
        reply: Undone,
        own,
      },
      (call) => take(controller, call, 'redo'),
    ),
  ];
}

interface UndoCall extends Pick<Call, 'caller'> {
  readonly path: { readonly project_id: string };
  readonly body: UndoRequest;
}

/** A rewind is reverted by another one. A step of several changes waits until no other change is under way; a step of one does not. */
async function take({ projects, snapshots }: Controller, call: UndoCall, direction: UndoDirection): Promise<Undone> {
  const project = projects.get(call.path.project_id);
  const { step, only } = call.body;
  const choice = { ...(step !== undefined && { step }), ...(only !== undefined && { only }) };
  const undone = await project.change((live) => live.undo.take(direction, choice));
  if (undone && 'kept' in undone) {
    requirePrivilege(call, 'Snapshot.Restore', `/projects/${project.id}/snapshots`);
    return snapshots.revertRewind(project, direction, undone);
  }
  return undone ?? project.changeAlone((live) => live.undo.takeAlone(direction, choice));
}

/** @throws `invalid_request` */
function numberOf(name: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw fault('invalid_request', { reason: `${name} must be a whole number from 1 to ${most}` });
  return number;
}
