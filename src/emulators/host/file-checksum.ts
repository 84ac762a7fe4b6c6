/** Checksums of large files with holes, such as the memory of machines: in a thread, and zeros cost next to nothing. */
import { Worker } from 'node:worker_threads';

/** SHA-256 over blocks; a block of zeros counts by its place only. Hexadecimal. @throws errors of the system */
export function checksumOf(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./file-checksum-worker.ts', import.meta.url), { workerData: path });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error(`the checksum of ${path} was not computed`)));
  });
}
