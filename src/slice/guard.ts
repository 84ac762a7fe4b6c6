/**
 * A process of its own that ends the machines of a slice when the lease is over and the server of the slice cannot: it was killed, stopped,
 * or hangs. It ends itself when another guard took its place, or when the deadline was removed. `argv`: the runtime folder, and
 * the socket of the container engine.
 */
import { bootId, bootMs } from '../lib/boot-clock.ts';
import { killContainers } from '../process/containers.ts';
import { endMarked, listMarked } from '../process/orphans.ts';
import { leaseFileOf, readDeadline } from './lease-file.ts';

const lookMs = 500;
/** The server of the slice ends its machines by itself at the deadline: it has so long. */
const graceMs = 1_000;
const namedWithinMs = 20_000;

const [, , runtimeDirectory = '', engineSocket = ''] = process.argv;

const since = bootMs();

/** Undefined: another guard took its place, or the deadline was removed. */
async function isOver(): Promise<boolean | undefined> {
  const found = await readDeadline(leaseFileOf(runtimeDirectory));
  // It is started before the file can name it.
  if (found?.guard !== process.pid) return bootMs() < since + namedWithinMs ? false : undefined;
  return found.boot === bootId() ? bootMs() >= found.deadline + graceMs : undefined;
}

/** Whether it is to look again. The deadline is read once more after each list: what has started under a new lease is not in it. */
async function look(): Promise<boolean> {
  const over = await isOver();
  if (!over) return over !== undefined;
  const endProcesses = async () => {
    const listed = await listMarked(runtimeDirectory);
    if (await isOver()) await endMarked(listed, 0);
  };
  // Asked again at the next look: an engine that does not answer must not keep the processes alive.
  await Promise.all([endProcesses(), killContainers(engineSocket, runtimeDirectory, isOver).catch(() => undefined)]);
  return true;
}

while (await look()) await new Promise((resolve) => setTimeout(resolve, lookMs));
