/**
 * Calls back when the last listener has been gone for a while, and again after each such time, until there is a listener or the callback ends
 * it. After a failure it waits longer, each time twice as long.
 */
import { waitAfter } from '../../lib/retry.ts';

/** `busy`: it is called again. `failed`: as well, later. */
type IdleOutcome = 'done' | 'busy' | 'failed';

const longestWaitMs = 600_000;

export class AutoClose {
  readonly #graceMs: number;
  /** Never rejects. */
  readonly #onIdle: () => Promise<IdleOutcome>;
  #listeners = 0;
  #failures = 0;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(graceMs: number, onIdle: () => Promise<IdleOutcome>) {
    this.#graceMs = graceMs;
    this.#onIdle = onIdle;
  }

  get hasListeners(): boolean {
    return this.#listeners > 0;
  }

  /** Counts a listener; `left` is called once, when it leaves. */
  listen(): { readonly left: () => void } {
    this.cancel();
    this.#listeners++;
    return {
      left: () => {
        this.#listeners--;
        this.#wait();
      },
    };
  }

  #wait(): void {
    this.cancel();
    if (this.hasListeners || this.#hasEnded) return;
    const isIdle = async () => {
      const outcome = await this.#onIdle();
      this.#failures = outcome === 'failed' ? this.#failures + 1 : 0;
      if (outcome !== 'done') this.#wait();
    };
    const times = { firstMs: this.#graceMs, longestMs: Math.max(this.#graceMs, longestWaitMs) };
    this.#timer = setTimeout(() => void isIdle(), waitAfter(times, this.#failures + 1)).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the timer for good. */
  end(): void {
    this.#hasEnded = true;
    this.cancel();
  }
}
