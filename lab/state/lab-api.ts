/** The HTTP API for labs: over a socket from the command line, in-process inside the server. */
import type { Method } from '../../src/api/route.ts';

export interface LabApi {
  /** Sends a JSON request; `T` is the reply's type. @throws an error with the answer's message and `status` */
  json<T = unknown>(method: Method, path: string, body?: unknown): Promise<T>;
  /** Reads a file's text; undefined when the file does not exist. */
  text(path: string): Promise<string | undefined>;
  /** Writes a file. */
  upload(path: string, text: string): Promise<void>;
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as Error & { status?: number }).status === 404;
}
