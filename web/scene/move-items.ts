/** Tells the server what this page changed on the canvas. */
import { batch } from '@preact/signals';
import type { Api } from '../api.ts';
import type { Point } from '../geometry/geometry.ts';
import type { Held, ProjectState } from '../state/project.ts';

export interface Move {
  readonly id: string;
  readonly from: Point;
  readonly to: Point;
}

export interface Change {
  readonly id: string;
  readonly from: Held;
  readonly to: Held;
  /** What the server is told, where that is not what is shown. */
  readonly body?: object;
}

/** Things are shown as they shall be meanwhile; one that the server does not take goes back. @throws ApiError the first refusal */
export async function changeItems(api: Api, project: ProjectState, changes: readonly Change[]): Promise<void> {
  batch(() => {
    for (const { id, to } of changes) project.hold(id, to);
  });
  const answers = await Promise.allSettled(changes.map(({ id, to, body = to }) => api.put(pathOf(project, id), body)));
  batch(() => {
    answers.forEach((answer, index) => {
      const change = changes[index];
      if (!change) return;
      const last = answer.status === 'rejected' ? change.from : change.to;
      if (last === change.from) project.hold(change.id, last);
      project.release(change.id, last);
    });
  });
  const refused = answers.find((answer) => answer.status === 'rejected');
  if (refused) throw refused.reason;
}

/** What stands where it stood is let go without asking the server. @throws ApiError the first refusal */
export async function moveItems(api: Api, project: ProjectState, moves: readonly Move[]): Promise<void> {
  const place = ({ x, y }: Point) => ({ x, y });
  const isReal = ({ from, to }: Move) => from.x !== to.x || from.y !== to.y;
  for (const { id, to } of moves.filter((move) => !isReal(move))) {
    project.hold(id, place(to));
    project.release(id);
  }
  const real = moves.filter(isReal).map(({ id, from, to }) => ({ id, from: place(from), to: place(to) }));
  await changeItems(api, project, real);
}

/** Of the API. */
export function pathOf(project: ProjectState, id: string): string {
  if (project.nodes.peek(id)) return `${project.path}/nodes/${id}`;
  return project.links.peek(id) ? `${project.path}/links/${id}` : `${project.path}/drawings/${id}`;
}
