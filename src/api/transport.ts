/**
 * How the controller reaches a compute: by the routes of the compute's API and nothing else. The same calls go to the compute in this
 * process (`local-transport.ts`, no socket) and to one elsewhere (HTTP). Faults are thrown; an answer is always a success.
 */
import type { Readable } from 'node:stream';
import type { Capabilities } from '../schema/compute.ts';
import type { Static } from '../schema/type.ts';
import type { Method, RouteKey, Socket } from './route.ts';

export interface ComputeCall {
  /** Values of the key's path parameters, not percent-encoded. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  /** How long to wait for the answer, milliseconds; 0 waits for ever. Default 120,000. Not used in-process. */
  readonly timeoutMs?: number;
}

export interface ComputeAnswer<T> {
  readonly status: number;
  readonly body: T;
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
}

export interface TransportState {
  readonly connected: boolean;
  /** Known since the last connection. */
  readonly capabilities: Static<typeof Capabilities>;
  readonly lastError: string | null;
}

/** Joins a client's socket to that of a compute: frames pass both ways, and when one ends the other does. */
export type Join = (client: Socket) => void;

export interface Transport {
  readonly state: TransportState;
  /** Connects when it is not connected; returns at once when it is. @throws the reason why the compute cannot be used */
  connect(): Promise<void>;
  call<T = unknown>(key: RouteKey, call?: ComputeCall): Promise<ComputeAnswer<T>>;
  /** A request by its path (`/v2/compute/…`), for proxies: bodies pass as they are. */
  raw(method: Method, path: string, body?: Readable | Uint8Array): Promise<RawAnswer>;
  /**
   * Asks for a WebSocket by its path (`/v2/compute/…`). The compute has accepted when it resolves; what it resolves with joins a
   * client's socket to it. `signal`: that client has gone.
   * @throws why the compute refuses
   */
  socket(path: string, signal: AbortSignal): Promise<Join>;
  /** Returns the function that ends the subscription. */
  events(listener: (event: ComputeEvent) => void): () => void;
  /** Calls back after every change of `state`. */
  onState(listener: (state: TransportState) => void): () => void;
  close(): Promise<void>;
}
