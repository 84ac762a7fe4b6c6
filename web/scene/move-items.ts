/** Sends the page's changes of the canvas to the server. */
import { batch } from '@preact/signals';
import type { Api } from '../api.ts';
import type { Move } from '../state/moves.ts';
import type { LocalState, ProjectState } from '../state/project.ts';
import { pathOf } from '../state/put-items.ts';

export interface Change {
  readonly id: string;
  readonly from: LocalState;
  readonly to: LocalState;
  /** The value sent, where it differs from the value shown. */
  readonly body?: object;
}

/** Shows a change immediately; reverts it when the server refuses it. @throws ApiError */
export async function changeItem(api: Api, project: ProjectState, { id, from, to, body = to }: Change): Promise<void> {
  project.hold(id, to);
  try {
    await api.put(pathOf(project, id), body);
  } catch (error) {
    batch(() => {
      project.hold(id, from);
      project.release(id, from);
    });
    throw error;
  }
  project.release(id, to);
}

/** Moves items as one step of undo; releases unmoved items without a request. @throws ApiError */
export async function moveItems(project: ProjectState, moves: readonly Move[]): Promise<void> {
  const isReal = ({ from, to }: Move) => from.x !== to.x || from.y !== to.y;
  for (const { id, to } of moves.filter((move) => !isReal(move))) {
    project.hold(id, { x: to.x, y: to.y });
    project.release(id);
  }
  await project.moves.add(moves.filter(isReal));
}
