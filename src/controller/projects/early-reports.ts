/**
 * Reports of nodes that came while their project was being opened. They are taken when it is open, in order and in short turns, as each node
 * has some; those that come meanwhile wait behind them.
 */
import { Turns } from '../../lib/turns.ts';

export class EarlyReports {
  readonly #opened: () => Promise<unknown>;
  #waiting: (() => void)[] | undefined;

  /** `opened`: settles when the project is open, or is not going to be. Never rejects. */
  constructor(opened: () => Promise<unknown>) {
    this.#opened = opened;
  }

  get isEmpty(): boolean {
    return this.#waiting === undefined;
  }

  add(take: () => void): void {
    if (this.#waiting) this.#waiting.push(take);
    else {
      this.#waiting = [take];
      void this.#takeAll(this.#waiting);
    }
  }

  async #takeAll(waiting: readonly (() => void)[]): Promise<void> {
    await this.#opened();
    const turns = new Turns();
    for (const take of waiting) {
      take();
      if (turns.isOver) await turns.next();
    }
    this.#waiting = undefined;
  }
}
