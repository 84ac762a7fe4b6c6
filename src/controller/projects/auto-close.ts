/** Calls back when the last listener has been gone for a while, and again after each such time, until there is a listener or the callback ends it. */
export class AutoClose {
  readonly #graceMs: number;
  readonly #onIdle: () => boolean;
  #listeners = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `onIdle` returns whether it is to be called again. */
  constructor(graceMs: number, onIdle: () => boolean) {
    this.#graceMs = graceMs;
    this.#onIdle = onIdle;
  }

  /** There is one more listener; `left` is called once, when it leaves. */
  listen(): { readonly left: () => void } {
    this.cancel();
    this.#listeners++;
    return {
      left: () => {
        this.#listeners--;
        if (this.#listeners > 0) return;
        this.#wait();
      },
    };
  }

  #wait(): void {
    this.cancel();
    const isIdle = () => {
      if (this.#onIdle()) this.#wait();
    };
    this.#timer = setTimeout(isIdle, this.#graceMs).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
