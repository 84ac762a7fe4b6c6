/** The HTTP API as labs use it: over a socket from the command line, by the routes themselves inside the server. */
import type { Method } from '../../src/api/route.ts';

export interface LabApi {
  /** A JSON request; `T` is the reply's type. @throws an error with the sentence of the answer and its `status` */
  json<T = unknown>(method: Method, path: string, body?: unknown): Promise<T>;
  /** A file's text; undefined when there is none. */
  text(path: string): Promise<string | undefined>;
  /** Writes a file. */
  upload(path: string, text: string): Promise<void>;
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as Error & { status?: number }).status === 404;
}
