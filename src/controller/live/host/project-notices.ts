/**
 * Sends notices to the listeners of an open project. Notices without a change of the project are kept for listeners that reconnect.
 */
import type { EventStream } from '../../../lib/event-stream.ts';
import { Turns } from '../../../lib/turns.ts';
import type { ProjectChange } from '../../log/records.ts';
import type { Notice } from './project-context.ts';
import { UnloggedNotices } from './unlogged-notices.ts';

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
