/**
 * The last byte of a node's MAC address: unique among the vpcs nodes of a project and kept for the node's life. It is given at the
 * first start and noted in the node's folder, so that it comes back after a restart of the server, travels with the project, and
 * is free again when the folder has gone. A note copied from another node is only a wish.
 */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { macNoteName } from './kind.ts';

/** 255 is left out, as in GNS3. */
export const lastMacId = 254;

interface Note {
  node_id: string;
  mac_id: number;
}

export class MacIds {
  readonly #lock = new KeyedMutex();

  /** The id of the node with this folder, whose name is the node's id; a new one is not below `from`, if possible. @throws `vpcs_failed` when all are taken */
  async of(directory: string, from = 0): Promise<number> {
    const nodeId = basename(directory);
    const note = await readNote(directory);
    if (note?.node_id === nodeId) return note.mac_id;
    // Two nodes of a project that start at the same time must not choose the same id.
    return this.#lock.run(dirname(directory), async () => {
      const taken = await takenBeside(directory);
      const id = note && !taken.has(note.mac_id) ? note.mac_id : firstFree(taken, from);
      const text = JSON.stringify({ node_id: nodeId, mac_id: id } satisfies Note);
      await writeFileAtomic(join(directory, macNoteName), `${text}\n`);
      return id;
    });
  }
}

function firstFree(taken: ReadonlySet<number>, from: number): number {
  const count = lastMacId + 1;
  for (let step = 0; step < count; step++) {
    const id = (from + step) % count;
    if (!taken.has(id)) return id;
  }
  throw fault('vpcs_failed', {
    reason: `A project can have at most ${lastMacId + 1} vpcs nodes with different MAC addresses: delete one`,
  });
}

async function takenBeside(directory: string): Promise<Set<number>> {
  const parent = dirname(directory);
  const names = await readdir(parent);
  const notes = await Promise.all(names.map(async (name) => ({ name, note: await readNote(join(parent, name)) })));
  return new Set(notes.flatMap(({ name, note }) => (note !== undefined && note.node_id === name ? [note.mac_id] : [])));
}

/** Clients can write the file. */
const largestNote = 1024;

/** Undefined when there is none, or none that makes sense. */
async function readNote(directory: string): Promise<Note | undefined> {
  try {
    const { node_id, mac_id } = JSON.parse(String(await readRegularFile(join(directory, macNoteName), largestNote))) as Partial<
      Record<keyof Note, unknown>
    >;
    const sound = typeof node_id === 'string' && Number.isInteger(mac_id) && Number(mac_id) >= 0 && Number(mac_id) <= lastMacId;
    return sound ? { node_id, mac_id: Number(mac_id) } : undefined;
  } catch {
    return undefined;
  }
}
