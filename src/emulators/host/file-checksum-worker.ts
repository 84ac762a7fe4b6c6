/** The thread of `checksumOf`. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const blockBytes = 1 << 18;
const zeros = Buffer.alloc(blockBytes);

function checksum(path: string): string {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(blockBytes);
  const file = openSync(path, 'r');
  try {
    let place = 0;
    for (let count = readSync(file, block); count > 0; count = readSync(file, block)) {
      const bytes = block.subarray(0, count);
      hash.update(`${place}:${count}:`);
      if (!bytes.equals(zeros.subarray(0, count))) hash.update(bytes);
      place += count;
    }
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

parentPort?.postMessage(checksum(String(workerData)));
