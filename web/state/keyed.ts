/** Objects by id, each in a signal of its own: a change re-renders only the views of that object. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';

export class Keyed<T extends object> {
  readonly #entries = new Map<string, Signal<T>>();
  readonly #ids = signal<readonly string[]>([]);
  readonly #idOf: (object: T) => string;

  constructor(idOf: (object: T) => string) {
    this.#idOf = idOf;
  }

  /** In order of arrival; changes only when an object is added or removed. */
  get ids(): ReadonlySignal<readonly string[]> {
    return this.#ids;
  }

  /** All current objects; a view that calls this re-renders on every change. */
  readonly all: ReadonlySignal<readonly T[]> = computed(() =>
    this.#ids.value.flatMap((id) => {
      const entry = this.#entries.get(id);
      return entry ? [entry.value] : [];
    }),
  );

  signalOf(id: string): Signal<T> | undefined {
    return this.#entries.get(id);
  }

  /** Finds an object. A view that calls this re-renders when a missing object arrives. */
  find(id: string): T | undefined {
    const entry = this.#entries.get(id);
    if (!entry) void this.#ids.value;
    return entry?.value;
  }

  /** Like `find`, without a subscription. */
  peek(id: string): T | undefined {
    return this.#entries.get(id)?.peek();
  }

  /** Adds or replaces an object. */
  put(object: T): void {
    const id = this.#idOf(object);
    const entry = this.#entries.get(id);
    if (entry) entry.value = object;
    else {
      this.#entries.set(id, signal(object));
      this.#ids.value = [...this.#ids.peek(), id];
    }
  }

  /** Changes some keys of an object; ignores an unknown id. */
  patch(id: string, change: Partial<T>): void {
    const entry = this.#entries.get(id);
    if (entry) entry.value = { ...entry.peek(), ...change };
  }

  remove(id: string): void {
    if (!this.#entries.delete(id)) return;
    this.#ids.value = this.#ids.peek().filter((other) => other !== id);
  }

  /** Replaces all objects. */
  replaceAll(objects: readonly T[]): void {
    batch(() => {
      const ids = objects.map(this.#idOf);
      const kept = new Set(ids);
      for (const id of this.#entries.keys()) if (!kept.has(id)) this.#entries.delete(id);
      for (const object of objects) {
        const entry = this.#entries.get(this.#idOf(object));
        if (entry) entry.value = object;
        else this.#entries.set(this.#idOf(object), signal(object));
      }
      const before = this.#ids.peek();
      if (before.length !== ids.length || before.some((id, index) => id !== ids[index])) this.#ids.value = ids;
    });
  }
}
