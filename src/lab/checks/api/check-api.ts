/** The HTTP API as checks use it. */
import type { Method } from '../../../api/route.ts';
import type { ConsoleSocket } from '../console/console-connection.ts';

export interface CheckApi {
  /** A JSON request; `T` is the reply's type. @throws RequestError */
  json<T = unknown>(method: Method, path: string, body?: unknown): Promise<T>;
  /** A WebSocket. @throws RequestError */
  socket(path: string, signal: AbortSignal): Promise<ConsoleSocket>;
  /** An answer as it comes, to its end or the abort of the signal. @throws RequestError */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** Of the answer; undefined: there was none. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
