import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';

const niceness = -10;
const realTimePriority = { ofHelpers: 1, ofMain: 2 };

/**
 * Puts this process ahead of the emulators, which take all the CPU there is and then wait for their frames. All its threads, as those
 * of V8 collect garbage while the main thread waits for them; threads that are made later inherit it.
 *
 * A nice value gives a process its share, but the process that runs may first finish its slice: some 3 ms, by which frames are late. Real time
 * (`SCHED_RR`, sched(7)) takes the CPU at once. The kernel leaves 5 % to the others, and a single CPU is not taken from them. The main
 * thread is ahead of the other ones, which also compile code: with the same priority it waits until each of them has finished.
 *
 * Without the privilege, or without chrt of util-linux, everything stays as it is.
 */
export function raisePriority(): void {
  for (const raise of [beNice, beRealTime]) {
    try {
      raise();
    } catch {
      // Not allowed, or no such thing here.
    }
  }
}

/** Where Linux groups processes by session (autogroup) the nice value counts within the session only: the session's is set as well. */
function beNice(): void {
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), niceness);
  writeFileSync('/proc/self/autogroup', String(niceness));
}

function beRealTime(): void {
  if (availableParallelism() < 2) return;
  const { ofHelpers, ofMain } = realTimePriority;
  chrt('--all-tasks', '--pid', `${ofHelpers}`);
  chrt('--pid', `${ofMain}`);
}

function chrt(...options: string[]): void {
  execFileSync('chrt', ['--rr', ...options, String(process.pid)], { stdio: 'ignore', timeout: 1000 });
}
