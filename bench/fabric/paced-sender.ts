/**
 * The thread that sends in `paced`: frames at an even pace to a connected socket, each with its time of sending. It sleeps between them,
 * and must not keep the receiver from noting when frames come.
 */
import { readlinkSync, writeFileSync, writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { framesOf } from './ends.ts';
import { sharedMs } from './shared-clock.ts';

export interface Pace {
  readonly descriptor: number;
  readonly perSecond: number;
  readonly total: number;
}

const never = new Int32Array(new SharedArrayBuffer(4));
/** A socket that is full is tried again after so long, ms. */
const fullMs = 0.1;

function send({ descriptor, perSecond, total }: Pace): void {
  const frame = framesOf(100, 1);
  const began = sharedMs();
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, ((sharedMs() - began) * perSecond) / 1000);
    for (; sent < due; sent += 1) {
      frame.writeDoubleBE(sharedMs(), 8);
      writeAll(descriptor, frame);
    }
    // Sleeps instead of spinning: a generator that occupies a whole processor would measure the scheduler.
    const aheadMs = began + (sent * 1000) / perSecond - sharedMs();
    if (aheadMs > 0) Atomics.wait(never, 0, 0, aheadMs);
  }
}

function writeAll(descriptor: number, frame: Buffer): void {
  for (let at = 0; at < frame.length; ) {
    try {
      at += writeSync(descriptor, frame, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(never, 0, 0, fullMs);
    }
  }
}

// Linux lets a sleep overrun by 50 µs by default; not in this thread.
writeFileSync(`/proc/${readlinkSync('/proc/thread-self').split('/').at(-1)}/timerslack_ns`, '1');
send(workerData as Pace);
