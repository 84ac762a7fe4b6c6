/**
 * The requester of what is being done now. It follows a request through everything that is awaited for it, so that a change can be put
 * down to a requester without passing it through every call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Requester {
  /** A person or a program, as far as it is known. */
  readonly by: string | null;
  /** The request reverts this step of a project's history. */
  readonly inverts?: number;
}

const current = new AsyncLocalStorage<Requester>();

export function asRequester<T>(requester: Requester, fn: () => T): T {
  return current.run(requester, fn);
}

/** Undefined for what has no requester. One object for all that is done for one request. */
export function findRequester(): Requester | undefined {
  return current.getStore();
}
