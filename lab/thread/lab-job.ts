/** Messages between the server and a thread that processes a lab file. */
import type { MessagePort } from 'node:worker_threads';
import type { Method } from '../../src/api/route.ts';
import type { LabRequest } from '../../src/schema/lab.ts';
import type { ThreadWire } from './thread-wires.ts';

export interface LabJob {
  /** `export`: writes the project as a lab file; the others read `text`. */
  readonly want: 'plan' | 'apply' | 'export' | 'check';
  readonly text: string;
  /** Name for messages. */
  readonly file: string;
  readonly files: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string | number | boolean>>;
  /** Name or id of the project, instead of the name in the file. */
  readonly project: string | undefined;
  /** Start all nodes at the end. */
  readonly start: boolean;
  /** Refuse nodes whose image or program their compute does not have. */
  readonly strict: boolean;
}

/** A job with the port over which its thread calls the API. */
export interface LabWork extends LabJob {
  readonly requests: MessagePort;
}

export function jobOf(want: LabJob['want'], { lab, files = {}, vars = {}, file = 'lab.yaml', project }: LabRequest): LabJob {
  return {
    want,
    text: typeof lab === 'string' ? lab : JSON.stringify(lab),
    file,
    files,
    vars,
    project,
    start: false,
    strict: false,
  };
}

export interface ThreadRequest {
  readonly id: number;
  readonly method: Method;
  readonly path: string;
  readonly body: Uint8Array | undefined;
}
/** A message of the thread on its port: a request, or a console or stream that it opens. */
export type ThreadCall = ThreadRequest | { readonly wire: ThreadWire };
export type ThreadAnswer = { readonly id: number } & (
  | { readonly body: Uint8Array }
  | { readonly error: { readonly message: string; readonly status: number } }
);

/**
 * A message of the thread. `piece`: a part of the client's answer. `failed`: by the lab file, with a message for the client, or by
 * the request with that id.
 */
export type LabMessage =
  | { readonly what: 'piece'; readonly bytes: Uint8Array }
  | { readonly what: 'failed'; readonly by: { readonly words: string } | { readonly request: number } }
  | { readonly what: 'end' };
