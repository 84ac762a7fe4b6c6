/** Nodes and links whose state was announced without a change of the project, and the number of the last change at that time. */
import type { Link } from '../../../schema/link.ts';
import type { NodeObject } from '../../model/node.ts';
import type { Notice } from './project-context.ts';

/** The object of the API with this id; undefined when it does not exist any more. */
type FindObject = (id: string) => object | undefined;

export class UnloggedNotices {
  readonly #nodes = new Map<string, number>();
  readonly #links = new Map<string, number>();

  note({ action, event }: Notice, seq: number): void {
    if (action === 'node.deleted') this.#nodes.delete((event as NodeObject).node_id);
    if (action === 'link.deleted') this.#links.delete((event as Link).link_id);
    if (action === 'node.updated' || action === 'node.created') this.#nodes.set((event as NodeObject).node_id, seq);
    if (action === 'link.updated') this.#links.set((event as Link).link_id, seq);
  }

  /** The present state of those that were announced at or after this change. */
  after(since: number, findNode: FindObject, findLink: FindObject): Notice[] {
    return [
      ...objectsSince(this.#nodes, since, findNode).map((event) => ({ action: 'node.updated', event })),
      ...objectsSince(this.#links, since, findLink).map((event) => ({ action: 'link.updated', event })),
    ];
  }
}

/** Forgets those that do not exist any more. */
function objectsSince(announced: Map<string, number>, since: number, find: FindObject): object[] {
  const objects: object[] = [];
  for (const [id, seq] of announced) {
    const object = find(id);
    if (!object) announced.delete(id);
    else if (seq >= since) objects.push(object);
  }
  return objects;
}
