/**
 * Time since the boot of this machine, the same for all of its processes. It counts while the machine sleeps, and no change of the date
 * moves it: leases are measured by it. @see proc(5): /proc/uptime; clock_gettime(2): CLOCK_BOOTTIME
 */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Milliseconds, in steps of ten. */
export function bootMs(): number {
  return Math.round(uptimeSeconds() * 1000);
}

function uptimeSeconds(): number {
  try {
    return Number(readFileSync('/proc/uptime', 'utf8').split(' ', 1)[0]);
  } catch {
    return uptime();
  }
}

/** Differs from one boot to the next; empty where that is not known. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
