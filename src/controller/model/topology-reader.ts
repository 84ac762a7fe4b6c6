/** Runs tasks of the thread that reads project files, and yields its messages piece by piece. */
import { Worker } from 'node:worker_threads';
import { Fault, type FaultCode, fault } from '../../api/faults.ts';
import { messagesOf } from '../../lib/thread-messages.ts';

export interface Renewal {
  readonly projectId: string;
  readonly name: string;
  readonly resetMacAddresses: boolean;
  readonly ids: readonly (readonly [string, string])[];
}
export interface Task {
  /** A path, or the bytes themselves. */
  readonly source: string | Uint8Array;
  readonly maxBytes: number;
  /** File name for messages. */
  readonly name: string;
  readonly want: 'topology' | 'entry' | 'old-facts' | Renewal;
}
export type FilePiece =
  | { readonly what: 'head'; readonly text: string; readonly revision: number }
  | { readonly what: 'entries'; readonly list: 'computes' | 'nodes' | 'links' | 'drawings'; readonly text: string }
  | { readonly what: 'value'; readonly text: string }
  | { readonly what: 'renewed'; readonly bytes: Uint8Array; readonly ids: [string, string][] }
  | { readonly what: 'fault'; readonly code: FaultCode; readonly message: string }
  | { readonly what: 'end' };

/** A file of 64 MB of the smallest values takes about so much, MiB. */
const threadMemoryMiB = 2048;

/** Each thread may take much memory: one at a time for each limit. */
export async function* readInThread(task: Task): AsyncGenerator<FilePiece> {
  const worker = new Worker(new URL('./topology-thread.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: threadMemoryMiB },
    // The thread must not inherit the server's Node options.
    execArgv: [],
  });
  try {
    for await (const piece of messagesOf<FilePiece>(worker)) {
      if (piece.what === 'end') return;
      if (piece.what === 'fault') throw new Fault(piece.code, piece.message, {});
      yield piece;
      worker.postMessage('next');
    }
    throw new Error('the thread that read it has ended');
  } catch (error) {
    if (error instanceof Fault) throw error;
    // The thread has run out of memory.
    throw fault('project_damaged', { name: task.name, reason: (error as Error).message }, { cause: error });
  } finally {
    await worker.terminate();
  }
}
