/** A thread that computes checksums of files, one after another, so that hashing a large image never holds up the server. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

const chunkBytes = 1 << 20;

function sumOf(algorithm: string, path: string): string {
  const hash = createHash(algorithm);
  const chunk = Buffer.allocUnsafe(chunkBytes);
  const file = openSync(path, 'r');
  try {
    for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) hash.update(chunk.subarray(0, count));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

parentPort?.on('message', ({ key, path, algorithm }: { key: string; path: string; algorithm: string }) => {
  try {
    parentPort?.postMessage({ key, sum: sumOf(algorithm, path) });
  } catch {
    parentPort?.postMessage({ key, sum: null });
  }
});
