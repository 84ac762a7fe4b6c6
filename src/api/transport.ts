/**
 * How the controller reaches a compute: by the routes of the compute's API and nothing else. The same calls go to the compute in this
 * process (`local-transport.ts`, no socket) and to a remote one (HTTP). Faults are thrown; an answer is always a success.
 */
import type { Readable } from 'node:stream';
import type { Capabilities } from '../schema/compute.ts';
import type { RunFacts } from '../schema/node-runs.ts';
import type { Static } from '../schema/type.ts';
import type { CallArguments, KeyOf, ReplyOfKey } from './client.ts';
import type { Method, Socket } from './route.ts';

/** A call without the types of its route: what transports make of `ApiCall`. */
export interface ComputeCall {
  /** Values of the key's path parameters, not percent-encoded. */
  readonly path?: Readonly<Record<string, string | number>> | undefined;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

export interface RawAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | Uint8Array;
}

/** What a compute notifies of. */
export interface ComputeEvent {
  readonly action: string;
  readonly event: unknown;
  readonly project_id?: string | undefined;
  /** Facts of the node's run, with `node.updated`. Stock computes send none. */
  readonly run?: RunFacts | undefined;
}

export interface TransportState {
  readonly connected: boolean;
  /** Known since the last connection. */
  readonly capabilities: Static<typeof Capabilities>;
  readonly lastError: string | null;
}

/** Joins a client's socket to that of a compute: frames pass both ways, and when one ends the other does. */
export type Join = (client: Socket) => void;

/** `A`: the API that is called, derived from its routes. */
export interface Transport<A> {
  readonly state: TransportState;
  /** Connects when it is not connected; returns at once when it is. @throws the reason why the compute cannot be used */
  connect(): Promise<void>;
  /**
   * Calls a route and resolves with its reply, which has the form of the route's schema.
   * @throws what the compute answers; `compute_reply_invalid` when a remote compute's reply has another form
   */
  call<K extends KeyOf<A>>(key: K, ...args: CallArguments<A, K>): Promise<ReplyOfKey<A, K>>;
  /** Calls a route whose reply does not matter: it is not read. @throws what the compute answers */
  send<K extends KeyOf<A>>(key: K, ...args: CallArguments<A, K>): Promise<void>;
  /** A request by its path (`/v2/compute/…`), for proxies: bodies are passed on unchanged. `signal` ends it while it has no answer. */
  raw(method: Method, path: string, body?: Readable | Uint8Array, signal?: AbortSignal): Promise<RawAnswer>;
  /**
   * Opens a WebSocket by its path (`/v2/compute/…`). Resolves when the compute has accepted it, with the function that joins a client's
   * socket to it. `signal` aborts when that client disconnects.
   * @throws why the compute refuses
   */
  socket(path: string, signal: AbortSignal): Promise<Join>;
  /** Returns the function that ends the subscription. */
  events(listener: (event: ComputeEvent) => void): () => void;
  /** Calls back after every change of `state`. */
  onState(listener: (state: TransportState) => void): () => void;
  /**
   * Of a remote compute: ends all of its connections, and makes none until it is called with null. The reason is that of the refusal of
   * requests meanwhile.
   */
  hold?(reason: string | null): void;
  close(): Promise<void>;
}
