/**
 * Keeps the program's own code in memory. Code is read from its file again when the kernel has used its memory for something else, as it
 * does while files are read and written: then the fabric waits for a busy disk, and frames are late by tenths of a second.
 */
import { readFileSync } from 'node:fs';
import type { MemoryCalls } from '../ports/native.ts';

/** A line of /proc/PID/maps: addresses, permissions, offset, device, inode, path. @see proc_pid_maps(5) */
const mapping = /^([0-9a-f]+)-([0-9a-f]+) r\S+ \S+ \S+ [1-9]\d* +\//;

/**
 * Locks all files that are mapped now in memory. Memory without a file stays as it is, because V8 returns parts of it. Nothing is locked
 * where that is not allowed.
 */
export function lockProgram(native: MemoryCalls): void {
  for (const line of readFileSync('/proc/self/maps', 'latin1').split('\n')) {
    const [, start = '', end = ''] = mapping.exec(line) ?? [];
    if (start !== '' && !native.lockMemory(Number.parseInt(start, 16), Number.parseInt(end, 16))) return;
  }
}
