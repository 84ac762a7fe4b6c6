/** What listeners of an open project are sent. States that are announced without a change of the project are remembered, for listeners that come back. */
import type { EventStream } from '../../../lib/event-stream.ts';
import type { ProjectChange } from '../../log/records.ts';
import type { Notice } from './project-context.ts';
import { UnloggedNotices } from './unlogged-notices.ts';

export class ProjectNotices {
  readonly unlogged = new UnloggedNotices();
  readonly #notices: EventStream<Notice>;
  readonly #lastSeq: () => number;

  /** `lastSeq`: number of the last change. */
  constructor(notices: EventStream<Notice>, lastSeq: () => number) {
    this.#notices = notices;
    this.#lastSeq = lastSeq;
  }

  /** Of what is not a change of the project. */
  notify(action: string, event: object): void {
    const notice = { action, event };
    this.unlogged.note(notice, this.#lastSeq());
    this.#notices.emit(notice);
  }

  /** Of a change that took effect; without `event` listeners are not sent any. */
  announce({ action }: ProjectChange, event: object | undefined, seq: number): void {
    if (!event) return;
    const notice = { action, event, seq };
    if (action.endsWith('.deleted')) this.unlogged.note(notice, seq);
    this.#notices.emit(notice);
  }
}
