/**
 * The number of a PC, which gives its MAC address: unique among the vpcs nodes of a project and kept for the node's life. It is given at the
 * first start and noted in the node's folder, so that it comes back after a restart of the server, travels with the project, and
 * is free again when the folder has gone. A note copied from another node is only a wish.
 */
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { macIdIn, macNoteName } from './kind.ts';

/** Left out, as in GNS3. */
const leftOut = 255;
/** 00:50:79:66:68:00; the number is added to its last three bytes. */
const vendor = '00:50:79';
const firstMac = 0x66_68_00;
/** Notes that are read at a time: the first start in a project reads those of all its nodes. */
const readAtOnce = 16;
const lastMacId = 0xff_ff_ff - firstMac;

export function macOf(id: number): string {
  const digits = (firstMac + id).toString(16).padStart(6, '0');
  return `${vendor}:${digits.slice(0, 2)}:${digits.slice(2, 4)}:${digits.slice(4)}`;
}

interface Note {
  node_id: string;
  mac_id: number;
}

interface Wish {
  readonly directory: string;
  readonly from: number;
  /** Number that the note in the node's folder has, or that its last run had. */
  readonly noted: number | undefined;
  readonly given: (id: Promise<MacId>) => void;
}

export interface NumberOptions {
  /** A new number is not below it, if possible. */
  readonly from?: number | undefined;
  /** Command line of the node's last run, whose number it gets where its note was lost. */
  readonly last?: string;
  /** The folder has no note. */
  readonly isNew?: boolean;
}

interface MacId {
  readonly id: number;
  /** Settles when the note of it is written. */
  readonly noted: Promise<void>;
}

/** The numbers of the nodes of a project. */
interface TakenIds {
  /** Inode of the folder that has the nodes' folders. When it changes, all notes are read anew. */
  readonly inode: bigint;
  mtimeNs: bigint;
  /** The number of each node, by the name of its folder. Undefined: the folder has no note of it. */
  readonly byName: Map<string, number | undefined>;
  readonly ids: Set<number>;
  /** All numbers between these two are taken: a thousand nodes that get numbers look at each number once. */
  searched: { readonly from: number; readonly next: number };
}

export class MacIds {
  readonly #taken = new Map<string, TakenIds>();
  /** Waiting requests by the folder that holds the nodes of a project; a folder without a list is not being served. */
  readonly #wishes = new Map<string, Wish[]>();

  /** Gives the node with this folder, whose name is the node's id, its number. @throws `vpcs_failed` when all are taken */
  async of(directory: string, { from = 0, last = '', isNew = false }: NumberOptions = {}): Promise<MacId> {
    const note = isNew ? undefined : await readNote(directory);
    if (note?.node_id === basename(directory)) return { id: note.mac_id, noted: Promise.resolve() };
    const ofLast = macIdIn(last);
    const noted = note?.mac_id ?? (ofLast !== undefined && ofLast <= lastMacId ? ofLast : undefined);
    return new Promise((given) => this.#add({ directory, from, noted, given }));
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

  /**
   * Serves requests one after the other, as two nodes must not choose the same id. Waiting requests share one scan of the notes of all
   * nodes.
   */
  async #serve(folder: string): Promise<void> {
    for (let wishes = this.#takeWishes(folder); wishes.length > 0; wishes = this.#takeWishes(folder)) {
      const looking = this.#takenIn(folder);
      const notes = wishes.map(async (wish) => {
        const taken = await looking;
        const name = basename(wish.directory);
        // The number of a note that has gone.
        if (taken.ids.delete(taken.byName.get(name) ?? -1)) taken.searched = nothingSearched;
        const id = choose(wish, taken);
        taken.ids.add(id);
        taken.byName.set(name, id);
        const noted = writeNote(wish.directory, id);
        // The start awaits this write and reports its failure.
        noted.catch(() => undefined);
        return { id, noted };
      });
      for (const [index, { given }] of wishes.entries()) given(notes[index] as Promise<MacId>);
      await Promise.allSettled(notes);
    }
  }

  /** Numbers that nodes of the folder have. Only notes of folders that have come since the last call are read. */
  async #takenIn(folder: string): Promise<TakenIds> {
    const { ino: inode, mtimeNs } = await stat(folder, { bigint: true });
    const known = this.#taken.get(folder);
    const taken = known?.inode === inode ? known : nothingTaken(inode);
    if (taken.mtimeNs === mtimeNs) return taken;
    const names = new Set(await readdir(folder));
    for (const name of taken.byName.keys()) if (!names.has(name)) taken.byName.delete(name);
    const added = [...names].filter((name) => !taken.byName.has(name));
    await forEachBounded(added, readAtOnce, async (name) => {
      const note = await readNote(join(folder, name));
      taken.byName.set(name, note?.node_id === name ? note.mac_id : undefined);
    });
    taken.ids.clear();
    taken.searched = nothingSearched;
    for (const id of taken.byName.values()) if (id !== undefined) taken.ids.add(id);
    taken.mtimeNs = mtimeNs;
    this.#taken.set(folder, taken);
    return taken;
  }

  #takeWishes(folder: string): Wish[] {
    const wishes = this.#wishes.get(folder) ?? [];
    if (wishes.length > 0) this.#wishes.set(folder, []);
    else this.#wishes.delete(folder);
    return wishes;
  }
}

const nothingSearched: TakenIds['searched'] = { from: 0, next: 0 };

function nothingTaken(inode: bigint): TakenIds {
  return { inode, mtimeNs: -1n, byName: new Map(), ids: new Set(), searched: nothingSearched };
}

function choose({ noted, from }: Wish, taken: TakenIds): number {
  if (noted !== undefined && !taken.ids.has(noted)) return noted;
  const { searched } = taken;
  const id = firstFree(taken.ids, searched.from === from ? Math.max(from, searched.next) : from);
  // A search that began again at 0 says nothing of the numbers between.
  taken.searched = id >= from ? { from, next: id } : nothingSearched;
  return id;
}

/**
 * Writes the note without a sync, which a start would wait for: the record of the run, which is synced, has the number as well. A note that
 * was cut off is none. What is at its path is replaced, never written through.
 */
async function writeNote(directory: string, mac_id: number): Promise<void> {
  const path = join(directory, macNoteName);
  const text = `${JSON.stringify({ node_id: basename(directory), mac_id } satisfies Note)}\n`;
  await writeFile(path, text, { flag: 'wx' }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    await rm(path, { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
  });
}

function firstFree(taken: ReadonlySet<number>, from: number): number {
  const count = lastMacId + 1;
  for (let step = 0; step < count; step++) {
    const id = (from + step) % count;
    if (id !== leftOut && !taken.has(id)) return id;
  }
  throw fault('vpcs_failed', {
    reason: `A project can have at most ${lastMacId} vpcs nodes with different MAC addresses: delete one`,
  });
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
