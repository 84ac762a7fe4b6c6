/** Checksums of large files with holes, such as the memory of machines: in a thread, and zeros cost next to nothing. */
import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { sumFile } from './sum-file.ts';

/** Takes less time than the start of a thread. */
const smallBytes = 2 << 20;

/** Computes the checksum of `sumFile`, for a large file in a worker. @throws errors of the system */
export async function checksumOf(path: string): Promise<string> {
  if ((await stat(path)).size <= smallBytes) return sumFile(path);
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./file-checksum-worker.ts', import.meta.url), { workerData: path });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error(`the checksum of ${path} was not computed`)));
  });
}
