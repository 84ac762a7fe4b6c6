/** Process groups as a whole: signals, and the end of members that outlive their leader. */
import type { ChildRecord } from './child.ts';
import { groupMembers, isRunning, settledEnvironment } from './proc.ts';

/** Sends a signal to every member of a group; false when there is none. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: there is a member, of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Sends a signal to one process. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Ended meanwhile, or not ours to end.
  }
}

/** Waits until no member of the group runs; after `graceMs` they are killed. Gives up on what even SIGKILL does not end in 2 s. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  // The usual case costs one system call: no process of the group is left, not even a zombie.
  if (!signalGroup(group, 0)) return;
  const killAt = performance.now() + graceMs;
  let killed = false;
  // Telling zombies apart takes a look at every process of the host, so that is done ever more rarely.
  let lookAfterMs = 10;
  let lookAt = performance.now() + lookAfterMs;
  while (performance.now() < killAt + 2000) {
    if (performance.now() >= lookAt) {
      if ((await groupMembers(group)).length === 0) return;
      lookAfterMs *= 2;
      lookAt = performance.now() + lookAfterMs;
    }
    if (!killed && performance.now() >= killAt) killed = signalGroup(group, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (!signalGroup(group, 0)) return;
  }
}

/** True when the record no longer names a running process of ours. An environment that cannot be read (other user) is no proof. */
export async function adoptionFailed(record: ChildRecord & { readonly runDirectory?: string }, marker: string): Promise<boolean> {
  if (!(record.pid > 0) || !isRunning(record.pid, record.startTime)) return true;
  if (record.runDirectory === undefined) return false;
  const environment = await settledEnvironment(record.pid, 100);
  return environment !== undefined && !environment.includes(`\0${marker}=${record.runDirectory}\0`);
}
