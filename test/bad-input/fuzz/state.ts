/** Reads the resources that a server holds. */
import { readFile } from 'node:fs/promises';
import { processesOf } from '../../support/leftovers.ts';
import { type RunningServer, serverProgram } from '../../support/server.ts';

export async function residentMiB(server: RunningServer): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
}

export function machinesOf(server: RunningServer): string[] {
  const all = processesOf(server.dataDir, server.runtimeDirectory);
  // The link namespace and its tools are there for the next machine.
  const isOwn = (line: string) =>
    line.includes(serverProgram) || /fabric\/main\.[jt]s|^sleep infinity$|^(?:ip|tc) -statistics .*-batch -$/.test(line);
  return all.map(({ commandLine }) => commandLine).filter((line) => !isOwn(line));
}
