/** Current operations on nodes and links, and their failures: shown at the item. */
import { signal } from '@preact/signals';
import type { LinkEnd } from '../../src/schema/link.ts';
import type { GuideRun } from './guide-run.ts';

interface Failure {
  readonly message: string;
  readonly code: string;
  /** Ends of a link. */
  readonly nodes?: readonly LinkEnd[];
}

export class Work {
  /** Id to the current operation, in words. */
  readonly busy = signal<ReadonlyMap<string, string>>(new Map());
  /** Id to the message of the last failure; kept until an operation succeeds or the user dismisses it. */
  readonly failures = signal<ReadonlyMap<string, string>>(new Map());
  /** Codes of these failures in docs/errors.md, where they have one. */
  readonly codes = new Map<string, string>();
  /** The run of the lab's checks, as its notes show it: it continues while they are closed. */
  readonly checks = signal<GuideRun | undefined>(undefined);
  /** Ends that were tried, by the id of a link that failed; the link need not exist. */
  readonly ends = signal<ReadonlyMap<string, readonly LinkEnd[]>>(new Map());

  /** Keeps a failure that the server reported: another window may have asked for the operation. */
  report(id: string, { message, code, nodes }: Failure): void {
    this.codes.set(id, code);
    if (nodes) this.ends.value = new Map(this.ends.peek()).set(id, nodes);
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
    if (this.ends.peek().has(id)) this.ends.value = without(this.ends.peek(), id);
    if (this.failures.peek().has(id)) this.failures.value = without(this.failures.peek(), id);
  }

  /** A link was made: failures of others that were to take its ports are over. */
  linked(linkId: string, made: readonly LinkEnd[]): void {
    for (const [id, ends] of this.ends.peek())
      if (id !== linkId && ends.some((end) => made.some((other) => portKey(other) === portKey(end)))) this.dismiss(id);
  }

  dismissAll(): void {
    this.codes.clear();
    this.ends.value = new Map();
    this.failures.value = new Map();
  }
}

/** The port of an end, as a text that two ends share only if they are the same port. */
export function portKey({ node_id, adapter_number, port_number }: LinkEnd): string {
  return `${node_id}/${adapter_number}/${port_number}`;
}

function without<T>(map: ReadonlyMap<string, T>, id: string): ReadonlyMap<string, T> {
  const copy = new Map(map);
  copy.delete(id);
  return copy;
}
