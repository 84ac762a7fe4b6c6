/** The HTTP API for checks. */
import type { Method } from '../../../src/api/route.ts';
import type { LabApi } from '../../state/lab-api.ts';
import type { ConsoleWire } from '../console/console-connection.ts';

/** A command of this machine. */
export interface HostCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Absent: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Filter of system calls, which bubblewrap reads from the descriptor after the standard ones; undefined without bubblewrap. */
  readonly filter?: Uint8Array | undefined;
}

/** Limits of captures, where the checks are those of a client. */
export interface CaptureLimits {
  /** Longest capture. */
  readonly bytes: number;
  /** The command that runs tcpdump; the words of tcpdump follow. */
  readonly tcpdump: HostCommand;
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
