/**
 * Links of a project for which time stands still, and their content as files: `frames`, which the fabric writes, and
 * `index.json`, which names for each direction in it the port that sends there, where its random filters were, and what switches
 * have learned. Held links queue arriving frames; the fabric releases them by itself when this server dies.
 */
import { copyFile, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { problemsOf } from '../../api/validate.ts';
import type { AddressEntry, DirectionPlace, FilterState } from '../../fabric/protocol.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { forEachBounded } from '../../lib/bounded.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { mapInTurns } from '../../lib/turns.ts';
import { nullable, Uuid } from '../../schema/common.ts';
import { type Static, Type } from '../../schema/type.ts';
import type { FabricWiring, PortAddress } from './wiring.ts';

/** The part of the fabric's client that is needed here. */
export interface FabricHolds {
  hold(ids: string[], leaseMs: number, pcs: string[]): Promise<void>;
  release(ids: string[], pcs: string[]): Promise<void>;
  saveFrames(path: string, directions: DirectionPlace[]): Promise<number>;
  loadFrames(path: string, directions: DirectionPlace[]): Promise<number>;
  filterStates(directions: DirectionPlace[]): Promise<FilterState[][]>;
  continueFilters(directions: DirectionPlace[], states: FilterState[][]): Promise<void>;
  addresses(id: string): Promise<AddressEntry[]>;
  learnAddresses(id: string, addresses: AddressEntry[]): Promise<void>;
}

const SavedFilter = Type.Object({ type: Type.String(), random: Type.Array(Type.Number()), position: Type.Optional(Type.Number()) });
const Index = Type.Object({
  /** Null: the node is not in this project. */
  ends: Type.Array(nullable(Type.Object({ node_id: Uuid, adapter: Type.Integer(), port: Type.Integer() }))),
  /** State of the random filters of each end's outgoing frames. Memory saved by earlier versions has none. */
  filters: Type.Optional(Type.Array(Type.Array(SavedFilter))),
  switches: Type.Array(
    Type.Object({
      node_id: Uuid,
      addresses: Type.Array(Type.Object({ mac: Type.String(), vlan: Type.Integer(), port: Type.Integer(), ageMs: Type.Number() })),
    }),
  ),
});
type Index = Static<typeof Index>;

const largestIndex = 1 << 26;
const leaseMs = 5000;
const renewMs = 1000;
/** Switches whose learned addresses are asked for at a time. */
const switchesAtOnce = 64;

/** Nodes whose links are held. */
export interface HeldNodes {
  readonly nodeIds: readonly string[];
  /** The switches among the nodes. */
  readonly switchIds: readonly string[];
  /** The PCs among the nodes: time stands still for them as well. */
  readonly pcIds: readonly string[];
}

export class HeldLinks {
  readonly #fabric: FabricHolds;
  readonly #wiring: FabricWiring;
  readonly #nodes: HeldNodes;
  readonly #ids: string[];
  #renewing: NodeJS.Timeout | undefined;

  private constructor(fabric: FabricHolds, wiring: FabricWiring, nodes: HeldNodes) {
    this.#fabric = fabric;
    this.#wiring = wiring;
    this.#nodes = nodes;
    this.#ids = wiring.linkIdsOf(nodes.nodeIds);
  }

  /** All links of these nodes, also those that come up while they are held. @throws fabric_unavailable */
  static async hold(fabric: FabricHolds, wiring: FabricWiring, nodes: HeldNodes): Promise<HeldLinks> {
    const held = new HeldLinks(fabric, wiring, nodes);
    await held.#hold();
    held.#renewing = setInterval(() => void held.#hold().catch(() => undefined), renewMs).unref();
    return held;
  }

  /**
   * Creates the folder and its files, with the frames that were sent before. @throws fabric_unavailable, and errors of the system
   */
  async save(folder: string): Promise<void> {
    const [fabric, wiring] = [this.#fabric, this.#wiring];
    const { nodeIds, switchIds } = this.#nodes;
    await mkdir(folder, { recursive: true });
    const bound = nodeIds.flatMap((nodeId) => wiring.ofNode(nodeId));
    const inFabric = (await mapInTurns(bound, (end) => ({ end, place: placeIn(wiring, end) }))).filter(
      ({ place }) => place.link !== '',
    );
    const places = inFabric.map(({ place }) => place);
    await fabric.saveFrames(filesIn(folder).frames, places);
    const filters = await fabric.filterStates(places);
    const switches: Index['switches'] = [];
    const [error] = await forEachBounded(switchIds, switchesAtOnce, async (node_id) => {
      switches.push({ node_id, addresses: await fabric.addresses(node_id) });
    });
    if (error !== undefined) throw error;
    const index: Index = {
      ends: inFabric.map(({ end }) => ({ node_id: end.nodeId, adapter: end.adapter, port: end.port })),
      filters,
      switches: switches.filter(({ addresses }) => addresses.length > 0),
    };
    await writeFileAtomic(filesIn(folder).index, JSON.stringify(index));
  }

  /**
   * Puts into the links what a folder holds. It is removed, whatever is wrong with it: later, its frames would be old. Nothing
   * happens without one. @throws what is wrong with it
   */
  async restore(folder: string): Promise<void> {
    try {
      await this.#restore(folder);
    } finally {
      await removeTree(folder);
    }
  }

  async #restore(folder: string): Promise<void> {
    const index = await readIndex(folder);
    if (!index) return;
    const fabric = this.#fabric;
    const own = new Set(this.#nodes.nodeIds);
    const ends = index.ends.map((end) =>
      end && own.has(end.node_id) ? { nodeId: end.node_id, adapter: end.adapter, port: end.port } : undefined,
    );
    const [error] = await forEachBounded(index.switches, switchesAtOnce, async ({ node_id, addresses }) => {
      if (own.has(node_id)) await fabric.learnAddresses(node_id, addresses);
    });
    if (error !== undefined) throw error;
    const places = await mapInTurns(ends, (end) => placeIn(this.#wiring, end));
    await fabric.continueFilters(places, index.filters ?? []);
    await fabric.loadFrames(filesIn(folder).frames, places);
  }

  async release(): Promise<void> {
    this.abandon();
    await this.#fabric.release(this.#ids, [...this.#nodes.pcIds]);
  }

  /** Does not renew the lease any more. */
  abandon(): void {
    clearInterval(this.#renewing);
  }

  #hold(): Promise<void> {
    return this.#fabric.hold(this.#ids, leaseMs, [...this.#nodes.pcIds]);
  }
}

/** Direction of the frames that leave there; without a link while the fabric has none. */
function placeIn(wiring: FabricWiring, end: PortAddress | undefined): DirectionPlace {
  const place = end && wiring.placeOf(end);
  return { link: place?.linkId ?? '', direction: place?.side === 'b' ? 'ba' : 'ab' };
}

/**
 * Copies saved links for the nodes of a copy. `nodes` maps the id of each node to that of its copy. A missing folder is ignored.
 */
export async function copySavedLinks(from: string, to: string, nodes: Readonly<Record<string, string>>): Promise<void> {
  const index = await readIndex(from).catch(() => undefined);
  if (!index) return;
  const copied: Index = {
    ...index,
    ends: index.ends.map((end) => {
      const node_id = end ? nodes[end.node_id] : undefined;
      return end && node_id !== undefined ? { ...end, node_id } : null;
    }),
    switches: index.switches.flatMap(({ node_id, addresses }) => {
      const id = nodes[node_id];
      return id === undefined ? [] : [{ node_id: id, addresses }];
    }),
  };
  await mkdir(to, { recursive: true });
  await copyFile(filesIn(from).frames, filesIn(to).frames);
  await writeFileAtomic(filesIn(to).index, JSON.stringify(copied));
}

/** Flushes saved frames to the disk. */
export async function syncSavedLinks(folder: string): Promise<void> {
  await using file = await open(filesIn(folder).frames, 'r');
  await file.sync();
}

function filesIn(folder: string) {
  return { frames: join(folder, 'frames'), index: join(folder, 'index.json') };
}

/** Reads the index of saved links; undefined when there is none. @throws for a damaged one */
async function readIndex(folder: string): Promise<Index | undefined> {
  const text = await readRegularFile(filesIn(folder).index, largestIndex).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const index: unknown = JSON.parse(String(text));
  const problem = await problemsOf(Index, index);
  if (problem !== undefined) throw new Error(`${filesIn(folder).index} is damaged: ${problem}`);
  return index as Index;
}
