/**
 * Stores the requester of the current asynchronous call chain, so that a change can be attributed to it without a parameter in
 * every call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from './rights.ts';

export interface Requester {
  /** A person or a program; null when unknown. */
  readonly by: string | null;
  /** The request reverts this step of a project's history. */
  readonly inverts?: number;
  /** The account of the request, and its rights. */
  readonly caller?: Caller;
}

const current = new AsyncLocalStorage<Requester>();

export function asRequester<T>(requester: Requester, fn: () => T): T {
  return current.run(requester, fn);
}

/** Returns the requester, the same object for the whole request; undefined for work that no request started. */
export function findRequester(): Requester | undefined {
  return current.getStore();
}
