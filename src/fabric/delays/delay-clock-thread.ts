/** The thread of `delay-clock.ts`: sleeps until the deadline in the shared word, then posts a message. */
import { readlinkSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { asleep, deadlines, lookingOn } from './deadline.ts';

/** How often, and how long each time, to look for another deadline before going to sleep. */
const looks = 5;
const lookMs = 0.05;

const word = new Int32Array(workerData as SharedArrayBuffer);
const deadlineOf = deadlines();

sleepExactly();
for (;;) {
  awaitDeadline();
  const deadline = Atomics.load(word, 0);
  const leftMicros = (deadline - deadlineOf(performance.now())) | 0;
  if (leftMicros > 0) Atomics.wait(word, 0, deadline, leftMicros / 1000);
  else if (Atomics.compareExchange(word, 0, deadline, lookingOn) === deadline) parentPort?.postMessage(0);
}

function awaitDeadline(): void {
  for (let look = 0; look < looks && Atomics.load(word, 0) === lookingOn; look += 1) Atomics.wait(word, 0, lookingOn, lookMs);
  Atomics.compareExchange(word, 0, lookingOn, asleep);
  while (Atomics.load(word, 0) === asleep) Atomics.wait(word, 0, asleep);
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
