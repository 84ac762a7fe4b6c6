/** Finds and ends processes that a server started before it died, and that no server adopted. */
import { runMarker } from './child.ts';
import { signalProcess } from './group.ts';
import { commandLine, isRunning, listPids, processFacts, settledEnvironment } from './proc.ts';

export interface Marked {
  readonly pid: number;
  /** Session of the process: the pid of the child that was started; a child's own children share it. */
  readonly sid: number;
  readonly startTime: number;
}

/**
 * Running processes that were started, directly or not, by a server with this runtime folder. Empty where there is no `/proc`. A
 * program that forbids to look at its memory (passt) hides its environment, but not its command line.
 */
export async function listMarked(runDirectory: string): Promise<Marked[]> {
  const wanted = `\0${runMarker}=${runDirectory}\0`;
  const found: Marked[] = [];
  for (const pid of await listPids()) {
    if (pid === process.pid) continue;
    const facts = processFacts(pid);
    if (facts === undefined || facts.state === 'Z') continue;
    // Threads of the kernel have none, and no session.
    const environment = await settledEnvironment(pid, facts.session === 0 ? 0 : 3);
    const isOurs = environment?.includes(wanted) ?? (await commandLine(pid)).includes(`${runDirectory}/`);
    // Looked at again: the pid may have changed hands between the two readings.
    if (isOurs && isRunning(pid, facts.startTime)) {
      found.push({ pid, sid: facts.session, startTime: facts.startTime });
    }
  }
  return found;
}

/**
 * The processes that no owned process accounts for: they are not owned, and their session has no owned process (bubblewrap leads the
 * session of a confined machine). In a container, all sessions that began outside of it read as 0, so 0 is not compared.
 */
export function withoutOwner(
  processes: readonly Marked[],
  owned: readonly number[],
  sessionOf = (pid: number) => processFacts(pid)?.session,
): Marked[] {
  const known = new Set(owned.flatMap((pid) => [pid, sessionOf(pid) ?? 0]));
  known.delete(0);
  return processes.filter(({ pid, sid }) => !known.has(pid) && !known.has(sid));
}

/** Ends processes: SIGTERM, after `graceMs` SIGKILL. Resolves when none runs, at the latest 2 s after the SIGKILL. */
export async function endMarked(processes: readonly Marked[], graceMs: number): Promise<void> {
  const left = () => processes.filter(({ pid, startTime }) => isRunning(pid, startTime));
  const started = performance.now();
  let sent: NodeJS.Signals | undefined;
  for (let running = left(); running.length > 0; running = left()) {
    const elapsedMs = performance.now() - started;
    if (elapsedMs > graceMs + 2000) return;
    const signal = elapsedMs >= graceMs ? 'SIGKILL' : 'SIGTERM';
    if (signal !== sent) for (const { pid } of running) signalProcess(pid, signal);
    sent = signal;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
