/** Current operations on nodes and links, and their failures: shown at the item. */
import { signal } from '@preact/signals';

export class Work {
  /** Id to the current operation, in words. */
  readonly busy = signal<ReadonlyMap<string, string>>(new Map());
  /** Id to the message of the last failure; kept until an operation succeeds or the user dismisses it. */
  readonly failures = signal<ReadonlyMap<string, string>>(new Map());
  /** Codes of these failures in docs/errors.md, where they have one. */
  readonly codes = new Map<string, string>();

  /** Keeps a failure that the server reported: another window may have asked for the operation. */
  report(id: string, { message, code }: { readonly message: string; readonly code: string }): void {
    this.codes.set(id, code);
    this.failures.value = new Map(this.failures.peek()).set(id, message);
  }

  /** Runs an operation on an object. Resolves to whether it succeeded; keeps a failure. */
  async run(id: string, label: string, task: () => Promise<unknown>): Promise<boolean> {
    this.busy.value = new Map(this.busy.peek()).set(id, label);
    try {
      await task();
      this.dismiss(id);
      return true;
    } catch (error) {
      const { message, code = '' } = error as Error & { readonly code?: string };
      this.report(id, { message, code });
      return false;
    } finally {
      this.busy.value = without(this.busy.peek(), id);
    }
  }

  dismiss(id: string): void {
    this.codes.delete(id);
    if (this.failures.peek().has(id)) this.failures.value = without(this.failures.peek(), id);
  }

  dismissAll(): void {
    this.codes.clear();
    this.failures.value = new Map();
  }
}

function without(map: ReadonlyMap<string, string>, id: string): ReadonlyMap<string, string> {
  const copy = new Map(map);
  copy.delete(id);
  return copy;
}
