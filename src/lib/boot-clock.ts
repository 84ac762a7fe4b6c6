/**
 * Measures the time since the boot, the same for all processes. The clock counts during suspend, and a change of the date does not
 * affect it: leases are measured by it. @see proc(5): /proc/uptime; clock_gettime(2): CLOCK_BOOTTIME
 */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Returns the time since the boot, ms, in steps of ten. */
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

let idOfBoot: string | undefined;

/** Returns an id of this boot; empty where the kernel has none. It is read once: no process outlives its boot. */
export function bootId(): string {
  idOfBoot ??= readBootId();
  return idOfBoot;
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
