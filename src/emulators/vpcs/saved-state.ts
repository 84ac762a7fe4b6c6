/** The state of a PC, from which it, or a copy of it, continues: its addresses, tables, what it was doing, and its console. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { type HostedState, hostedState } from '../../fabric/protocol.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { savedMemoryName } from '../../schema/folders.ts';

/** File of 0.2 with the state, in the memory of each node. It may go when no snapshot of 0.2 is used any more. */
const stateName = 'pc.json';
/** Clients can write the file. */
const largestState = 4 << 20;

/** Checks a state that was saved. @throws memory_refused */
export function checkedState(state: unknown, name: string): HostedState {
  const reason = hostedState.problem(state, 'state');
  if (reason !== undefined) throw fault('memory_refused', { name, reason });
  return state as HostedState;
}

/** The file for the next start of a node; undefined when there is none. @throws memory_refused */
export function findState(directory: string, name: string): Promise<HostedState | undefined> {
  return readState(join(directory, savedMemoryName), name);
}

/** The PC has continued from its file. */
export async function discardState(directory: string): Promise<void> {
  await rm(join(directory, savedMemoryName), { recursive: true, force: true });
}

/** @throws memory_refused */
export async function checkState(folder: string, name: string): Promise<void> {
  if ((await readState(folder, name)) === undefined) throw fault('memory_refused', { name, reason: `${stateName} is missing` });
}

async function readState(folder: string, name: string): Promise<HostedState | undefined> {
  let state: unknown;
  try {
    state = JSON.parse(String(await readRegularFile(join(folder, stateName), largestState, { noFollow: true })));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fault('memory_refused', { name, reason: (error as Error).message });
  }
  return checkedState(state, name);
}
