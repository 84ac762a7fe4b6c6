/** `link.stats` once a second, one for each link, while there are listeners that requested them. */
import { setImmediate as turn } from 'node:timers/promises';
import { EventStream } from '../../../lib/event-stream.ts';
import type { LinkStats } from '../../../schema/link-stats.ts';
import type { Notice } from '../host/project-context.ts';

const everyMs = 1000;
/** Notices that are sent before other requests have their turn. */
const noticesPerTurn = 50;

export class LinkStatsFeed {
  readonly #read: () => Promise<readonly LinkStats[]>;
  readonly #notices = new EventStream<Notice>();
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;

  /** `read` is called while there are listeners only. */
  constructor(read: () => Promise<readonly LinkStats[]>) {
    this.#read = read;
  }

  /** Returns what ends it. */
  listen(listener: (notice: Notice) => void): () => void {
    const unsubscribe = this.#notices.subscribe(listener);
    this.#timer ??= setInterval(() => void this.#emit(), everyMs).unref();
    return () => {
      unsubscribe();
      if (this.#notices.listeners > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** A second whose figures are late is left out. */
  async #emit(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (const [index, event] of (await this.#read()).entries()) {
        if (index % noticesPerTurn === noticesPerTurn - 1) await turn();
        this.#notices.emit({ action: 'link.stats', event });
      }
    } catch {
      // The project was closed meanwhile; the next second has its state.
    } finally {
      this.#isReading = false;
    }
  }
}

/** Passes on figures of a link that differ from those passed on last. */
export function changedOnly(listener: (notice: Notice) => void): (notice: Notice) => void {
  const sent = new Map<string, string>();
  return (notice) => {
    const { link_id } = notice.event as LinkStats;
    const text = JSON.stringify(notice.event);
    if (sent.get(link_id) === text) return;
    sent.set(link_id, text);
    listener(notice);
  };
}
