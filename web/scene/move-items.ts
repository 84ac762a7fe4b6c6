/** Sends the page's changes of the canvas to the server. */
import { batch } from '@preact/signals';
import type { Api } from '../api.ts';
import type { Point } from '../geometry/geometry.ts';
import type { LocalState, ProjectState } from '../state/project.ts';

export interface Move {
  readonly id: string;
  readonly from: Point;
  readonly to: Point;
}

export interface Change {
  readonly id: string;
  readonly from: LocalState;
  readonly to: LocalState;
  /** The value sent, where it differs from the value shown. */
  readonly body?: object;
}

/** Shows the changes immediately; reverts an item whose change the server refuses. @throws ApiError the first refusal */
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

/** Releases unmoved items without a request. @throws ApiError the first refusal */
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

/** Path of the API. */
export function pathOf(project: ProjectState, id: string): string {
  if (project.nodes.peek(id)) return `${project.path}/nodes/${id}`;
  return project.links.peek(id) ? `${project.path}/links/${id}` : `${project.path}/drawings/${id}`;
}
