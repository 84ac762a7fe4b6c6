import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { beNice } from '../../process/priority.ts';

const niceness = -10;
const realTimePriority = '1';

/**
 * Puts this process ahead of the emulators, which take all the CPU there is and then wait for their frames. All its threads, as those
 * of V8 collect garbage while the main thread waits for them; threads that are made later inherit it.
 *
 * A nice value gives a process its share, but the process that runs may first finish its slice: some 3 ms, by which frames are late. Real time
 * (`SCHED_RR`, sched(7)) takes the CPU at once. The kernel leaves 5 % to the others, and a single CPU is not taken from them.
 *
 * Without the privilege, or without chrt of util-linux, everything stays as it is.
 */
export function raisePriority(): void {
  for (const raise of [() => beNice(niceness), beRealTime]) {
    try {
      raise();
    } catch {
      // The file is missing on this system, or writing it is not allowed.
    }
  }
}

function beRealTime(): void {
  if (availableParallelism() < 2) return;
  execFileSync('chrt', ['--rr', '--all-tasks', '--pid', realTimePriority, String(process.pid)], { stdio: 'ignore', timeout: 1000 });
}
