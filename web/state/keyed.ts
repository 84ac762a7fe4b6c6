/** Objects by id, each in a signal of its own: a change of one is seen by its own views only. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';

export class Keyed<T extends object> {
  readonly #entries = new Map<string, Signal<T>>();
  readonly #ids = signal<readonly string[]>([]);
  readonly #idOf: (object: T) => string;

  constructor(idOf: (object: T) => string) {
    this.#idOf = idOf;
  }

  /** In order of their arrival; changes only when one comes or goes. */
  get ids(): ReadonlySignal<readonly string[]> {
    return this.#ids;
  }

  /** Every object as it is now; whoever calls this in a view sees every change. */
  readonly all: ReadonlySignal<readonly T[]> = computed(() =>
    this.#ids.value.flatMap((id) => {
      const entry = this.#entries.get(id);
      return entry ? [entry.value] : [];
    }),
  );

  signalOf(id: string): Signal<T> | undefined {
    return this.#entries.get(id);
  }

  /** Who asks in a view for one that is not there is told when it comes. */
  find(id: string): T | undefined {
    const entry = this.#entries.get(id);
    if (!entry) void this.#ids.value;
    return entry?.value;
  }

  /** As `find`, without being told of changes. */
  peek(id: string): T | undefined {
    return this.#entries.get(id)?.peek();
  }

  /** Adds an object or changes the one that is there. */
  put(object: T): void {
    const id = this.#idOf(object);
    const entry = this.#entries.get(id);
    if (entry) entry.value = object;
    else {
      this.#entries.set(id, signal(object));
      this.#ids.value = [...this.#ids.peek(), id];
    }
  }

  /** Changes some keys of an object; one that is not there is left alone. */
  patch(id: string, change: Partial<T>): void {
    const entry = this.#entries.get(id);
    if (entry) entry.value = { ...entry.peek(), ...change };
  }

  remove(id: string): void {
    if (!this.#entries.delete(id)) return;
    this.#ids.value = this.#ids.peek().filter((other) => other !== id);
  }

  /** These and no others. */
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
