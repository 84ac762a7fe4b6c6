/** The thread of `delay-clock.ts`: sleeps until the deadline in the shared word, then posts a message. */
import { readlinkSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { monotonicMicros } from './monotonic.ts';

const word = new Int32Array(workerData as SharedArrayBuffer);
const micros = monotonicMicros();

sleepExactly();
for (;;) {
  const deadline = Atomics.load(word, 0);
  const left = (deadline - micros(performance.now())) | 0;
  if (deadline === 0) Atomics.wait(word, 0, 0);
  else if (left > 0) Atomics.wait(word, 0, deadline, left / 1000);
  else if (Atomics.compareExchange(word, 0, deadline, 0) === deadline) parentPort?.postMessage(0);
}

/** Linux lets every sleep run 50 µs over, so that it can wake for several at once (PR_SET_TIMERSLACK); not in this thread. */
function sleepExactly(): void {
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1);
    writeFileSync(`/proc/${thread}/timerslack_ns`, '1');
  } catch {
    // No Linux, or no /proc: a little later, then.
  }
}
