/** Moves of a project that were not brought to their end although their computes are connected: tried again, less and less often. */
import { Retry } from '../../../lib/retry.ts';

const times = { firstMs: 1_000, longestMs: 60_000 };

export class UnsettledMoves {
  readonly #retry = new Retry(times, () => this.#try());
  #settle: (() => Promise<boolean>) | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #reason = '';
  #isClosed = false;

  /** `settle` is called after the next wait; false: this was called once more. @returns whether the reason is a new one */
  failed(reason: string, settle: () => Promise<boolean>): boolean {
    const isNew = reason !== this.#reason;
    this.#reason = reason;
    this.#settle = settle;
    if (!this.#isClosed) this.#retry.failed();
    return isNew;
  }

  /** No attempt follows. One that is under way may wait for a compute, and ends by itself. */
  end(): void {
    this.#isClosed = true;
    this.#retry.stop();
  }

  /** Settles with the attempt that is under way. */
  get attempt(): Promise<void> {
    return this.#attempt;
  }

  #try(): void {
    this.#attempt = (async () => {
      if (!(await this.#settle?.())) return;
      this.#retry.succeeded();
      this.#reason = '';
    })();
  }
}
