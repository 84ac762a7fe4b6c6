/** What is being done to nodes and links just now, and what went wrong with them: shown where it happened. */
import { signal } from '@preact/signals';

export class Work {
  /** Id to what is being done, in words. */
  readonly busy = signal<ReadonlyMap<string, string>>(new Map());
  /** Id to the sentence of the last failure; it stays until something succeeds there or it is dismissed. */
  readonly failures = signal<ReadonlyMap<string, string>>(new Map());

  /** Does something to an object. Resolves to whether it went well; a failure is kept here. */
  async run(id: string, label: string, task: () => Promise<unknown>): Promise<boolean> {
    this.busy.value = new Map(this.busy.peek()).set(id, label);
    try {
      await task();
      this.dismiss(id);
      return true;
    } catch (error) {
      this.failures.value = new Map(this.failures.peek()).set(id, (error as Error).message);
      return false;
    } finally {
      this.busy.value = without(this.busy.peek(), id);
    }
  }

  dismiss(id: string): void {
    if (this.failures.peek().has(id)) this.failures.value = without(this.failures.peek(), id);
  }

  dismissAll(): void {
    this.failures.value = new Map();
  }
}

function without(map: ReadonlyMap<string, string>, id: string): ReadonlyMap<string, string> {
  const copy = new Map(map);
  copy.delete(id);
  return copy;
}
