/** Objects by id, each in a signal of its own: a change re-renders only the views of that object. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';

export class Keyed<T extends object> {
  /** A signal that was removed is undefined, for views that show it: its object may be added again in the same turn. */
  readonly #entries = new Map<string, Signal<T | undefined>>();
  readonly #ids = signal<readonly string[]>([]);
  readonly #idOf: (object: T) => string;

  constructor(idOf: (object: T) => string) {
    this.#idOf = idOf;
  }

  /** Ids in order of arrival; changes only when an object is added or removed. */
  get ids(): ReadonlySignal<readonly string[]> {
    return this.#ids;
  }

  /** All current objects; a view that calls this re-renders on every change. */
  readonly all: ReadonlySignal<readonly T[]> = computed(() =>
    this.#ids.value.flatMap((id) => {
      const object = this.#entries.get(id)?.value;
      return object ? [object] : [];
    }),
  );

  signalOf(id: string): ReadonlySignal<T | undefined> | undefined {
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

  /** Adds or replaces an object. An equal one, such as the server's answer to a change that is shown already, changes nothing. */
  put(object: T): void {
    const id = this.#idOf(object);
    const entry = this.#entries.get(id);
    if (entry) replace(entry, object);
    else {
      this.#entries.set(id, signal<T | undefined>(object));
      this.#ids.value = [...this.#ids.peek(), id];
    }
  }

  /** Changes some keys of an object; ignores an unknown id. */
  patch(id: string, change: Partial<T>): void {
    const entry = this.#entries.get(id);
    const object = entry?.peek();
    if (entry && object) entry.value = { ...object, ...change };
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    batch(() => {
      this.#entries.delete(id);
      entry.value = undefined;
      this.#ids.value = this.#ids.peek().filter((other) => other !== id);
    });
  }

  /** Replaces all objects. */
  replaceAll(objects: readonly T[]): void {
    batch(() => {
      const ids = objects.map(this.#idOf);
      const kept = new Set(ids);
      for (const [id, entry] of this.#entries) {
        if (kept.has(id)) continue;
        this.#entries.delete(id);
        entry.value = undefined;
      }
      for (const object of objects) {
        const entry = this.#entries.get(this.#idOf(object));
        if (entry) replace(entry, object);
        else this.#entries.set(this.#idOf(object), signal<T | undefined>(object));
      }
      const before = this.#ids.peek();
      if (before.length !== ids.length || before.some((id, index) => id !== ids[index])) this.#ids.value = ids;
    });
  }
}

function replace<T>(entry: Signal<T | undefined>, object: T): void {
  if (JSON.stringify(entry.peek()) !== JSON.stringify(object)) entry.value = object;
}
