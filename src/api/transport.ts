/**
 * Defines how the controller calls a compute: through the routes of the compute's API only. Calls go to the compute of this process
 * (`local-transport.ts`, no socket) or to a remote one (HTTP). Faults are thrown; an answer is always a success.
 */
import type { Readable } from 'node:stream';
import type { Capabilities } from '../schema/compute.ts';
import type { RunFacts } from '../schema/node-runs.ts';
import type { Static } from '../schema/type.ts';
import type { CallArguments, KeyOf, ReplyOfKey } from './client.ts';
import type { Method, Socket } from './route.ts';

/** A call without its route's types, which transports derive from `ApiCall`. */
export interface ComputeCall {
  /** Values of the key's path parameters, not percent-encoded. */
  readonly path?: Readonly<Record<string, string | number>> | undefined;
  readonly body?: unknown;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface RawAnswer {
  readonly status: number;
  /** Headers of the answer, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | Uint8Array;
}

/** A notification of a compute. */
export interface ComputeEvent {
  readonly action: string;
  readonly event: unknown;
  readonly project_id?: string | undefined;
  /** State of the node's run, with `node.updated`. Stock GNS3 computes send none. */
  readonly run?: RunFacts | undefined;
}

export interface TransportState {
  readonly connected: boolean;
  /** Capabilities from the last connection. */
  readonly capabilities: Static<typeof Capabilities>;
  readonly lastError: string | null;
}

/** Joins a client's socket to a compute's: frames pass both ways, and each end closes the other. */
export type Join = (client: Socket) => void;

/** A connection to a compute. `A`: the API, derived from its routes. */
export interface Transport<A> {
  readonly state: TransportState;
  /** Connects; returns at once when connected. @throws the reason why the compute cannot be used */
  connect(): Promise<void>;
  /**
   * Calls a route and returns its reply, which matches the route's schema.
   * @throws the compute's fault; `compute_reply_invalid` when a remote compute's reply does not match
   */
  call<K extends KeyOf<A>>(key: K, ...args: CallArguments<A, K>): Promise<ReplyOfKey<A, K>>;
  /** Calls a route whose reply is not read. @throws the compute's fault */
  send<K extends KeyOf<A>>(key: K, ...args: CallArguments<A, K>): Promise<void>;
  /**
   * Requests a path (`/v2/compute/…`) for proxies: bodies are passed on unchanged. `signal` aborts the request until it is
   * answered.
   */
  raw(method: Method, path: string, body?: Readable | Uint8Array, signal?: AbortSignal): Promise<RawAnswer>;
  /**
   * Opens a WebSocket by its path (`/v2/compute/…`). Resolves when the compute has accepted it, with the function that joins a
   * client's socket to it. `signal` aborts when the client disconnects.
   * @throws the compute's refusal
   */
  socket(path: string, signal: AbortSignal): Promise<Join>;
  /** Subscribes to the compute's events; returns the function that unsubscribes. */
  events(listener: (event: ComputeEvent) => void): () => void;
  /** Calls the listener after every change of `state`. */
  onState(listener: (state: TransportState) => void): () => void;
  /**
   * Ends all connections to a remote compute and makes none until it is called with null. Requests meanwhile are refused with the
   * reason.
   */
  hold?(reason: string | null): void;
  /** Requests to a slice name this epoch of its lease; null: none. */
  setEpoch?(epoch: number | null): void;
  close(): Promise<void>;
}
