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

async function look(): Promise<boolean> {
  const found = await readDeadline(leaseFileOf(runtimeDirectory));
  // It is started before the file can name it.
  if (found?.guard !== process.pid) return bootMs() < since + namedWithinMs;
  if (found.boot !== bootId()) return false;
  if (bootMs() < found.deadline + graceMs) return true;
  await Promise.all([
    endMarked(await listMarked(runtimeDirectory), 0),
    // Asked again at the next look: an engine that does not answer must not keep the processes alive.
    killContainers(engineSocket, runtimeDirectory).catch(() => undefined),
  ]);
  return true;
}

while (await look()) await new Promise((resolve) => setTimeout(resolve, lookMs));
