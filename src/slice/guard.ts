/**
 * Ends the machines of a slice when the lease is over and the server does not: it was killed, stopped, or hangs. Runs as a separate
 * process, and exits when another guard of this host took over or the deadline was removed. A guard on another host, whose slice was
 * placed there and has the same runtime folder (hosts may share it), does not see the machines of this one: then the last deadline
 * of this guard counts. SIGUSR2, from the script of a batch job whose server was killed, ends them at once: containers are no processes
 * of the job. `argv`: the runtime folder, and the socket of the container engine.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { bootId, bootMs } from '../lib/boot-clock.ts';
import { killContainers } from '../process/containers.ts';
import { endMarked, listMarked } from '../process/orphans.ts';
import { commandLine } from '../process/proc.ts';
import { type LeaseDeadline, leaseFileOf, readDeadline } from './lease-file.ts';

const lookMs = 500;
/** Time after the deadline in which the slice's server is to end the machines itself. Ms. */
const graceMs = 1_000;
const namedWithinMs = 20_000;
/** Requests to the container engine when a job ends; one takes two seconds at most. */
const attempts = 4;

const [, , runtimeDirectory = '', engineSocket = ''] = process.argv;

const since = bootMs();
/** The last deadline that named this guard. */
let own: LeaseDeadline | undefined;

const jobEnds = new AbortController();
process.once('SIGUSR2', () => jobEnds.abort());

/** Whether the lease is over, or its job ends; undefined: another guard took over, or the deadline was removed. */
async function isOver(): Promise<boolean | undefined> {
  if (jobEnds.signal.aborted) return true;
  const found = await readDeadline(leaseFileOf(runtimeDirectory));
  if (found?.guard === process.pid && found.boot === bootId()) own = found;
  // The guard starts before the file can name it.
  else if (!own) return bootMs() < since + namedWithinMs ? false : undefined;
  else if (!found || (found.boot === bootId() && (await isGuardHere(found.guard)))) return undefined;
  return bootMs() >= own.deadline + graceMs;
}

async function isGuardHere(pid: number): Promise<boolean> {
  const line = await commandLine(pid);
  return line.includes('slice/guard') && line.includes(runtimeDirectory);
}

/**
 * Ends machines; returns whether the engine has ended its containers. The deadline is read again after each list, so that machines started
 * under a new lease are spared. A container engine that does not answer must not keep the processes alive.
 */
async function end(): Promise<boolean> {
  const endProcesses = async () => {
    const listed = await listMarked(runtimeDirectory);
    if (await isOver()) await endMarked(listed, 0);
  };
  const endContainers = killContainers(engineSocket, runtimeDirectory, isOver).then(
    () => true,
    // Nothing runs where no engine listens.
    ({ code }: NodeJS.ErrnoException) => code === 'ENOENT' || code === 'ECONNREFUSED',
  );
  return (await Promise.all([endContainers, endProcesses()]))[0];
}

/** Returns whether the guard should continue. */
async function look(): Promise<boolean> {
  const over = await isOver();
  if (over) await end();
  return over !== undefined;
}

while (!jobEnds.signal.aborted && (await look())) await delay(lookMs, undefined, { signal: jobEnds.signal }).catch(() => undefined);
for (let left = attempts; jobEnds.signal.aborted && left > 0 && !(await end()); left -= 1) await delay(lookMs);
