/** Process groups as a whole: signals, and the end of members that outlive their leader. */
import type { ChildRecord } from './child.ts';
import { groupMembers, isRunning, processEnvironment } from './proc.ts';

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

/** What a leader leaves is mostly gone within this time: the kernel is asked whether there is any, before all processes of the host are read. */
const cheapMs = 50;
const lookMs = 10;

/** Waits until no member of the group runs; after `graceMs` they are killed. Gives up on what even SIGKILL does not end in 2 s. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  const began = performance.now();
  let killed = false;
  // No process of the group is left, not even a zombie: the usual case costs one system call.
  while (signalGroup(group, 0)) {
    const passed = performance.now() - began;
    if (passed >= graceMs + 2000) return;
    if (!killed && passed >= graceMs) killed = signalGroup(group, 'SIGKILL');
    // Zombies that nobody reaps are members as well.
    if (passed >= cheapMs && (await groupMembers(group)).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** True when the record no longer names a running process of ours. An environment that cannot be read (other user) is no proof. */
export async function adoptionFailed(record: ChildRecord & { readonly runDirectory?: string }, marker: string): Promise<boolean> {
  if (!(record.pid > 0) || !isRunning(record.pid, record.startTime)) return true;
  if (record.runDirectory === undefined) return false;
  const environment = await processEnvironment(record.pid);
  return environment !== undefined && !environment.includes(`${marker}=${record.runDirectory}`);
}
