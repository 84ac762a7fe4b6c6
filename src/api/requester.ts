/**
 * Stores the requester of the current asynchronous call chain, so that a change can be attributed to it without a parameter in
 * every call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Requester {
  /** A person or a program; null when unknown. */
  readonly by: string | null;
  /** The request reverts this step of a project's history. */
  readonly inverts?: number;
}

const current = new AsyncLocalStorage<Requester>();

export function asRequester<T>(requester: Requester, fn: () => T): T {
  return current.run(requester, fn);
}

/** Returns the requester, the same object for the whole request; undefined for work that no request started. */
export function findRequester(): Requester | undefined {
  return current.getStore();
}
