/** A thread that takes one archive apart: a hundred thousand entries, or one of gigabytes, never hold up the server. */
import { parentPort, workerData } from 'node:worker_threads';
import { isFault } from '../../api/faults.ts';
import type { ExtractTask, Report } from './extract.ts';
import { extractHere } from './extract-files.ts';

const report = (message: Report): void => parentPort?.postMessage(message);
/** Interval of progress reports in milliseconds. */
const everyMs = 50;
let reportedAt = 0;

try {
  await extractHere(workerData as ExtractTask, (doneBytes, totalBytes) => {
    if (doneBytes < totalBytes && performance.now() - reportedAt < everyMs) return;
    reportedAt = performance.now();
    report({ what: 'bytes', doneBytes, totalBytes });
  });
  report({ what: 'end' });
} catch (error) {
  if (!isFault(error)) throw error;
  report({ what: 'fault', code: error.code, message: error.message });
}
