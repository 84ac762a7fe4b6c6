/**
 * The share of PCs in the fabric's event loop: they have one queue, from which one piece of work after the other is done for a moment in
 * each turn of the loop. Sockets, timers and switches have their turn in between, however much the PCs have to do.
 */

/** PCs take so long of a turn, and one piece of work more. */
const sliceMs = 1;

export interface PcWork {
  /** It has its place in the queue. */
  isWaiting: boolean;
  /** Does one piece of work; true: there is more. */
  work(): boolean;
}

export class PcTurns {
  readonly #onTurn = () => this.#turn();
  readonly #now: () => number;
  #waiting: PcWork[] = [];
  #head = 0;
  #isScheduled = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  add(one: PcWork): void {
    if (one.isWaiting) return;
    one.isWaiting = true;
    this.#waiting.push(one);
    this.#schedule();
  }

  #turn(): void {
    this.#isScheduled = false;
    const limitMs = this.#now() + sliceMs;
    while (this.#head < this.#waiting.length) {
      const one = this.#waiting[this.#head++] as PcWork;
      one.isWaiting = false;
      if (one.work()) this.add(one);
      if (this.#now() >= limitMs) break;
    }
    // What is done leaves the queue when it is the larger part: constant work for each.
    if (this.#head * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    if (this.#waiting.length > this.#head) this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }
}
