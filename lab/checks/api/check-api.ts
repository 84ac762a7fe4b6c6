/** The HTTP API for checks. */
import type { Method } from '../../../src/api/route.ts';
import type { LabApi } from '../../state/lab-api.ts';
import type { ConsoleWire } from '../console/console-connection.ts';

/** Limits of captures, where the checks are those of a client. */
export interface CaptureLimits {
  /** Longest capture. */
  readonly bytes: number;
  /** Words that run tcpdump. */
  readonly command: readonly string[];
  /** Whether the first packets are printed for the report. */
  readonly isPrinted: boolean;
}

export interface CheckApi extends LabApi {
  /** The signal ends a request that takes long. */
  json<T = unknown>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T>;
  readonly captures?: CaptureLimits;
  /** Opens the console of a node. */
  console(projectPath: string, nodeId: string): Promise<ConsoleWire>;
  /** Opens the auxiliary console of a node: a shell in its container. */
  auxiliary(projectPath: string, nodeId: string): Promise<ConsoleWire>;
  /** Streams an answer until it ends or the signal aborts. */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}
