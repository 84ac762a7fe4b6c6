/** Takes an archive apart into a folder, in a thread of its own, or fails; the caller removes the folder. */
import { Worker } from 'node:worker_threads';
import { Fault, type FaultCode } from '../../api/faults.ts';
import { messagesOf } from '../../lib/thread-messages.ts';
import { refuseArchive } from './archive-entries.ts';

/** Called with bytes done so far, of how many. */
export type OnBytes = (doneBytes: number, totalBytes: number) => void;

export interface ExtractTask {
  readonly archive: string;
  readonly folder: string;
  /** Bytes that must stay free on the folder's disk. */
  readonly floorBytes: number;
}
export type Report =
  | { readonly what: 'bytes'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly what: 'fault'; readonly code: FaultCode; readonly message: string }
  | { readonly what: 'end' };

/** The thread ends as soon as it has reported; this is for one that hangs. */
const endLimitMs = 10_000;

/** @throws archive_invalid, disk_floor, storage_failed */
export async function extractArchive(workerData: ExtractTask, onBytes: OnBytes = () => undefined): Promise<void> {
  const worker = new Worker(new URL('./extract-thread.ts', import.meta.url), { workerData, execArgv: [] });
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  try {
    for await (const report of messagesOf<Report>(worker)) {
      if (report.what === 'end') return;
      if (report.what === 'fault') throw new Fault(report.code, report.message, {});
      onBytes(report.doneBytes, report.totalBytes);
    }
    throw new Error('the thread that did it has ended');
  } catch (error) {
    if (error instanceof Fault) throw error;
    refuseArchive(`it cannot be taken apart: ${(error as Error).message}`, error);
  } finally {
    // A thread that is terminated leaves files open that it is about to close, so it ends by itself.
    const timer = setTimeout(() => void worker.terminate(), endLimitMs);
    await exited;
    clearTimeout(timer);
  }
}
