/**
 * The last byte of a node's MAC address: unique among the vpcs nodes of a project and kept for the node's life. It is given at the
 * first start and noted in the node's folder, so that it comes back after a restart of the server, travels with the project, and
 * is free again when the folder has gone. A note copied from another node is only a wish.
 */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { macNoteName } from './kind.ts';

/** 255 is left out, as in GNS3. */
export const lastMacId = 254;

interface Note {
  node_id: string;
  mac_id: number;
}

interface Wish {
  readonly directory: string;
  readonly from: number;
  /** Of the note in its folder. */
  readonly noted: number | undefined;
  readonly given: (id: Promise<number>) => void;
}

export class MacIds {
  /** By the folder of the nodes of a project; one without a list is not being served. */
  readonly #wishes = new Map<string, Wish[]>();

  /** The id of the node with this folder, whose name is the node's id; a new one is not below `from`, if possible. @throws `vpcs_failed` when all are taken */
  async of(directory: string, from = 0): Promise<number> {
    const note = await readNote(directory);
    if (note?.node_id === basename(directory)) return note.mac_id;
    return new Promise((given) => this.#add({ directory, from, noted: note?.mac_id, given }));
  }

  #add(wish: Wish): void {
    const folder = dirname(wish.directory);
    const waiting = this.#wishes.get(folder);
    if (waiting) {
      waiting.push(wish);
      return;
    }
    this.#wishes.set(folder, [wish]);
    void this.#serve(folder);
  }

  /** One after the other, as two nodes must not choose the same id; those that wait share one look at the notes of all nodes. */
  async #serve(folder: string): Promise<void> {
    for (let wishes = this.#takeWishes(folder); wishes.length > 0; wishes = this.#takeWishes(folder)) {
      const looking = takenIn(folder);
      const notes = wishes.map(async (wish) => {
        const taken = await looking;
        const id = choose(wish, taken);
        taken.add(id);
        await writeNote(wish.directory, id);
        return id;
      });
      for (const [index, { given }] of wishes.entries()) given(notes[index] as Promise<number>);
      await Promise.allSettled(notes);
    }
  }

  #takeWishes(folder: string): Wish[] {
    const wishes = this.#wishes.get(folder) ?? [];
    if (wishes.length > 0) this.#wishes.set(folder, []);
    else this.#wishes.delete(folder);
    return wishes;
  }
}

function choose({ noted, from }: Wish, taken: ReadonlySet<number>): number {
  return noted !== undefined && !taken.has(noted) ? noted : firstFree(taken, from);
}

function writeNote(directory: string, mac_id: number): Promise<void> {
  const text = JSON.stringify({ node_id: basename(directory), mac_id } satisfies Note);
  return writeFileAtomic(join(directory, macNoteName), `${text}\n`);
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

/** Of all nodes with a folder there. */
async function takenIn(parent: string): Promise<Set<number>> {
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
