import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const niceness = -10;

/**
 * Puts this process ahead of the emulators, which take all the CPU there is and then wait for their frames. Where Linux groups
 * processes by session (sched(7), autogroup) the nice value counts within the session only, and the session's has to be set as well.
 * Without the privilege everything stays as it is.
 */
export function raisePriority(): void {
  try {
    setPriority(niceness);
    writeFileSync('/proc/self/autogroup', String(niceness));
  } catch {
    // Not allowed, or no such thing here.
  }
}
