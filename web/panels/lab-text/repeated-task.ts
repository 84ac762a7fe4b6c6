/** Runs a task after a pause, one at a time; a request during a run leads to another run. */
export class RepeatedTask {
  readonly #run: () => Promise<void>;
  readonly #pauseMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #isEnded = false;

  constructor(run: () => Promise<void>, pauseMs: number) {
    this.#run = run;
    this.#pauseMs = pauseMs;
  }

  /** Runs the task after the pause. `restarts`: a request during the pause begins it anew, as while a user types. */
  soon(restarts = false): void {
    this.#isWanted = true;
    if (this.#isEnded || this.#running || (this.#timer !== undefined && !restarts)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.now(), this.#pauseMs);
  }

  /** Runs the task at once, after a run that has begun. */
  async now(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#running) await this.#running;
    if (this.#isEnded) return;
    this.#isWanted = false;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isWanted) this.soon();
    });
    await this.#running;
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }
}
