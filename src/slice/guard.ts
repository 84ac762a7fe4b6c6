/**
 * Ends the machines of a slice when the lease is over and the server does not: it was killed, stopped, or hangs. Runs as a separate
 * process, and exits when another guard took over or the deadline was removed. `argv`: the runtime folder, and the socket of the
 * container engine.
 */
import { bootId, bootMs } from '../lib/boot-clock.ts';
import { killContainers } from '../process/containers.ts';
import { endMarked, listMarked } from '../process/orphans.ts';
import { leaseFileOf, readDeadline } from './lease-file.ts';

const lookMs = 500;
/** How long the slice's server has after the deadline to end the machines itself. Ms. */
const graceMs = 1_000;
const namedWithinMs = 20_000;

const [, , runtimeDirectory = '', engineSocket = ''] = process.argv;

const since = bootMs();

/** Whether the lease is over; undefined: another guard took over, or the deadline was removed. */
async function isOver(): Promise<boolean | undefined> {
  const found = await readDeadline(leaseFileOf(runtimeDirectory));
  // The guard starts before the file can name it.
  if (found?.guard !== process.pid) return bootMs() < since + namedWithinMs ? false : undefined;
  return found.boot === bootId() ? bootMs() >= found.deadline + graceMs : undefined;
}

/**
 * Returns whether the guard should continue. The deadline is read again after each list, so that machines started under a new lease
 * are spared.
 */
async function look(): Promise<boolean> {
  const over = await isOver();
  if (!over) return over !== undefined;
  const endProcesses = async () => {
    const listed = await listMarked(runtimeDirectory);
    if (await isOver()) await endMarked(listed, 0);
  };
  // A container engine that does not answer must not keep the processes alive; the next look asks it again.
  await Promise.all([endProcesses(), killContainers(engineSocket, runtimeDirectory, isOver).catch(() => undefined)]);
  return true;
}

while (await look()) await new Promise((resolve) => setTimeout(resolve, lookMs));
