/** Checks the permissions of files for the user of emulators. */
import type { RunAs } from './run-as.ts';

/** Whether the permissions of a file let the user do all that `need` says: read 4, write 2, execute or search 1. @see inode(7) */
export function allows({ uid, gid }: RunAs, facts: { uid: number; gid: number; mode: number }, need: number): boolean {
  const shift = String(facts.uid) === uid ? 6 : String(facts.gid) === gid ? 3 : 0;
  return ((facts.mode >> shift) & need) === need;
}
