/** Tells the server where items stand now. */
import { batch } from '@preact/signals';
import type { Api } from '../api.ts';
import type { Point, ProjectState } from '../state/project.ts';

export interface Move {
  readonly id: string;
  readonly from: Point;
  readonly to: Point;
}

/** Items are shown at their new places meanwhile; one that the server does not take goes back. @throws ApiError the first refusal */
export async function moveItems(api: Api, project: ProjectState, moves: readonly Move[]): Promise<void> {
  const real = moves.filter(({ from, to }) => from.x !== to.x || from.y !== to.y);
  batch(() => {
    for (const { id, to } of moves) project.hold(id, to);
  });
  const answers = await Promise.allSettled(real.map(({ id, to }) => api.put(pathOf(project, id), { x: to.x, y: to.y })));
  batch(() => {
    for (const { id } of moves) project.release(id);
    answers.forEach((answer, index) => {
      const move = real[index];
      if (answer.status !== 'rejected' || !move) return;
      project.hold(move.id, move.from);
      project.release(move.id);
    });
  });
  const refused = answers.find((answer) => answer.status === 'rejected');
  if (refused) throw refused.reason;
}

/** Of the API. */
export function pathOf(project: ProjectState, id: string): string {
  if (project.nodes.peek(id)) return `${project.path}/nodes/${id}`;
  return project.links.peek(id) ? `${project.path}/links/${id}` : `${project.path}/drawings/${id}`;
}
