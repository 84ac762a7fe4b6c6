/** Priorities of this server and of the programs that it starts, on a host whose processors may be full. */
import { readdirSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** Nice value of a server that stays ahead of its programs, and of programs where it may not have that one. */
const ahead = -10;
const behind = 5;
let ofPrograms: number | undefined;

/** Sets a nice value, -20 to 19; false when it could not be set. */
export function prioritise(pid: number, niceness: number): boolean {
  try {
    setPriority(pid, niceness);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns words before a command that gets a larger nice value than this process from its first instruction on, by nice(1); none for a
 * smaller one, which may be refused. Set from outside, the value misses threads and children that the program has made by then.
 */
export function niceWords(niceness: number): string[] {
  const more = niceness - getPriority();
  return more > 0 ? ['nice', '-n', String(more)] : [];
}

/**
 * Sets the nice value of all threads of this process; threads that are made later inherit it. Where Linux groups processes by session
 * (autogroup) the value counts within the session only: the session's is set as well. @throws where that is not permitted
 */
export function beNice(niceness: number): void {
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), niceness);
  try {
    writeFileSync('/proc/self/autogroup', String(niceness));
  } catch {
    // Linux does not group here.
  }
}

/**
 * Puts this server ahead of the programs that it starts from now on: a slice has to renew its lease while its machines take all processors.
 * The programs step back instead where the server lacks the privilege.
 */
export function stayAhead(): void {
  try {
    beNice(ahead);
    ofPrograms = 0;
  } catch {
    ofPrograms = behind;
  }
}

/** The nice value of a program that is started; undefined: it inherits this server's. */
export function programNiceness(): number | undefined {
  return ofPrograms;
}
