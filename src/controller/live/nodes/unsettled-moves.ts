/** Moves of a project that were not brought to their end: those whose computes are connected are tried again, less and less often. */
import { Retry } from '../../../lib/retry.ts';

const times = { firstMs: 1_000, longestMs: 60_000 };

export class UnsettledMoves {
  readonly #retry = new Retry(times, () => this.#try());
  /** Reasons by move, as listeners were sent them. */
  readonly #reasons = new Map<string, string>();
  #settle: (() => Promise<boolean>) | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** @returns whether the reason is a new one for this move */
  failed(move: string, reason: string): boolean {
    const isNew = this.#reasons.get(move) !== reason;
    this.#reasons.set(move, reason);
    return isNew;
  }

  settled(move: string): void {
    this.#reasons.delete(move);
  }

  /** `settle` is called after the next wait; false: this was called once more. */
  tryAgain(settle: () => Promise<boolean>): void {
    this.#settle = settle;
    if (!this.#isClosed) this.#retry.failed();
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
      if (await this.#settle?.()) this.#retry.succeeded();
    })();
  }
}
