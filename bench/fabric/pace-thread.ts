/**
 * A thread that sends frames at an even pace through an open socket, each with its time of sending. A thread of its own, as it sleeps
 * between frames: in the receiver's thread it would keep what has arrived from being seen.
 */
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { framesOf } from './ends.ts';
import { monotonicMs } from './monotonic.ts';

export interface Pace {
  /** Descriptor of a connected stream socket. */
  readonly fd: number;
  readonly perSecond: number;
  readonly total: number;
}

const { fd, perSecond, total } = workerData as Pace;
const never = new Int32Array(new SharedArrayBuffer(4));
const frame = framesOf(100, 1);
const began = monotonicMs();
for (let sent = 0; sent < total; sent += 1) {
  const aheadMs = began + (sent * 1000) / perSecond - monotonicMs();
  if (aheadMs > 0) Atomics.wait(never, 0, 0, aheadMs);
  frame.writeDoubleBE(monotonicMs(), 8);
  for (let done = 0; done < frame.length; ) done += written(done);
}
parentPort?.postMessage(total);

/** The socket does not block: while it is full, the thread waits. */
function written(from: number): number {
  try {
    return writeSync(fd, frame, from);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    Atomics.wait(never, 0, 0, 0.1);
    return 0;
  }
}
