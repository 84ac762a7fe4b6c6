/**
 * Sends notices to the listeners of an open project. Notices without a change of the project are kept for listeners that reconnect.
 */
import type { EventStream } from '../../../lib/event-stream.ts';
import { Turns } from '../../../lib/turns.ts';
import type { Link } from '../../../schema/link.ts';
import type { ProjectChange } from '../../log/records.ts';
import type { NodeObject } from '../../model/node.ts';
import type { Notice } from './project-context.ts';

export class ProjectNotices {
  readonly unlogged = new UnloggedNotices();
  readonly #notices: EventStream<Notice>;
  readonly #lastSeq: () => number;
  /** Notices for a later turn of the event loop, in order. */
  #waiting: Notice[] = [];
  /** Quota of the present turn of the event loop; undefined before its first notice. */
  #turn: Turns | undefined;

  /** `lastSeq`: number of the last change. */
  constructor(notices: EventStream<Notice>, lastSeq: () => number) {
    this.#notices = notices;
    this.#lastSeq = lastSeq;
  }

  /** Notifies listeners of a state that is not a change of the project. */
  notify(action: string, event: object): void {
    const notice = { action, event };
    this.unlogged.note(notice, this.#lastSeq());
    this.#send(notice);
  }

  /** Announces a change that took effect. Without `event`, listeners are not notified. */
  announce({ action }: ProjectChange, event: object | undefined, seq: number): void {
    if (!event) return;
    const notice = { action, event, seq };
    if (action.endsWith('.deleted')) this.unlogged.note(notice, seq);
    this.#send(notice);
  }

  /** Sends what waits for a later turn. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const notice of waiting) this.#notices.emit(notice);
  }

  /** A change of thousands of things has as many notices, for each listener: what takes long is sent in short turns. */
  #send(notice: Notice): void {
    if (this.#turn === undefined) {
      this.#turn = new Turns();
      setImmediate(() => this.#nextTurn());
    }
    if (this.#waiting.length > 0 || this.#turn.isOver) this.#waiting.push(notice);
    else this.#notices.emit(notice);
  }

  #nextTurn(): void {
    this.#turn = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const notice of waiting) this.#send(notice);
  }
}

/** The object of the API with this id; undefined when it does not exist any more. */
type FindObject = (id: string) => object | undefined;

/** Nodes and links whose state was announced without a change of the project, and the number of the last change at that time. */
class UnloggedNotices {
  readonly #nodes = new Map<string, number>();
  readonly #links = new Map<string, number>();

  note({ action, event }: Notice, seq: number): void {
    if (action === 'node.deleted') this.#nodes.delete((event as NodeObject).node_id);
    if (action === 'link.deleted') this.#links.delete((event as Link).link_id);
    if (action === 'node.updated' || action === 'node.created') this.#nodes.set((event as NodeObject).node_id, seq);
    if (action === 'link.updated') this.#links.set((event as Link).link_id, seq);
  }

  /** Returns the present state of the nodes and links that were announced at or after this change. */
  after(since: number, findNode: FindObject, findLink: FindObject): Notice[] {
    return [
      ...objectsSince(this.#nodes, since, findNode).map((event) => ({ action: 'node.updated', event })),
      ...objectsSince(this.#links, since, findLink).map((event) => ({ action: 'link.updated', event })),
    ];
  }
}

/** Returns the objects announced since then. Objects that do not exist any more are forgotten. */
function objectsSince(announced: Map<string, number>, since: number, find: FindObject): object[] {
  const objects: object[] = [];
  for (const [id, seq] of announced) {
    const object = find(id);
    if (!object) announced.delete(id);
    else if (seq >= since) objects.push(object);
  }
  return objects;
}
