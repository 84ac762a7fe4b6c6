/** The state of a PC as a file, from which it, or a copy of it, continues: its addresses, tables, what it was doing, and its console. */
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { type HostedState, hostedState } from '../../fabric/protocol.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { savedMemoryName } from '../../schema/folders.ts';
import type { MemorySaver } from '../driver.ts';
import type { FabricPcs } from '../host/host.ts';

const stateName = 'pc.json';
/** Clients can write the file. */
const largestState = 4 << 20;

/** The PC is held with the links of its project: its state and the frames in these are of one instant. */
export function saverOf(pcs: FabricPcs, nodeId: string, folder: string): MemorySaver {
  let text = '';
  return {
    get ramBytes() {
      return Buffer.byteLength(text);
    },
    settle: async () => {},
    async transfer() {
      const state = await pcs.pcState(nodeId);
      if (state === null) throw new Error('the PC has ended');
      text = JSON.stringify(state);
    },
    async finish() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Nothing reads the folder before all of the memory in it is complete: no temporary file is needed.
      const file = await open(join(folder, stateName), 'wx', 0o600);
      await file
        .writeFile(text)
        .then(() => file.sync())
        .finally(() => file.close());
    },
    dispose: async () => {},
  };
}

/** The state that was saved for the next start of a node; undefined when there is none. @throws memory_refused */
export function findState(directory: string, name: string): Promise<HostedState | undefined> {
  return readState(join(directory, savedMemoryName), name);
}

/** The PC has continued from it. */
export async function discardState(directory: string): Promise<void> {
  await rm(join(directory, savedMemoryName), { recursive: true, force: true });
}

/** @throws memory_refused */
export async function checkState(folder: string, name: string): Promise<void> {
  if ((await readState(folder, name)) === undefined) throw fault('memory_refused', { name, reason: `${stateName} is missing` });
}

async function readState(folder: string, name: string): Promise<HostedState | undefined> {
  try {
    const bytes = await readRegularFile(join(folder, stateName), largestState, { noFollow: true });
    const state: unknown = JSON.parse(String(bytes));
    const problem = hostedState.problem(state, stateName);
    if (problem !== undefined) throw new Error(problem);
    return state as HostedState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fault('memory_refused', { name, reason: (error as Error).message });
  }
}
