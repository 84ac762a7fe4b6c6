/**
 * Who asks for what is being done now. It follows a request through everything that is awaited for it, so that a change can be put
 * down to somebody without being handed down through every call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Requester {
  /** A person or a program, as well as it can be told. */
  readonly by: string | null;
  /** What is done takes back this step of a project's history. */
  readonly inverts?: number;
}

const current = new AsyncLocalStorage<Requester>();

export function asRequester<T>(requester: Requester, fn: () => T): T {
  return current.run(requester, fn);
}

/** Undefined for what nobody asked for. One object for all that is done for one request. */
export function findRequester(): Requester | undefined {
  return current.getStore();
}
