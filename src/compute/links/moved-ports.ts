/**
 * Ports whose peer is moved to another compute while it is paused: what is in their link, and what they send meanwhile, waits, and
 * leaves for the new place. Filters that act here continue. A controller that dies never releases them: then they are released
 * after seconds, and the fabric does so by itself when this server dies, too.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DirectionPlace, FilterState } from '../../fabric/protocol.ts';
import type { NioRecord } from '../store.ts';
import type { FabricHolds } from './held-links.ts';
import { type FabricWiring, type PortAddress, possibleLinkIds } from './wiring.ts';

/** Lease of the fabric on held frames, in milliseconds. A pause takes tenths of a second. */
const leaseMs = 5000;
/** Limit of a move in milliseconds, below the lease: after its end the frames would leave in another order. */
const longestMs = 4000;

interface MovedPort {
  readonly ids: string[];
  /** File of the frames that waited. */
  readonly file: string;
  readonly limit: NodeJS.Timeout;
}

export class MovedPorts {
  readonly #fabric: FabricHolds;
  readonly #wiring: FabricWiring;
  /** Private; emptied when the server starts. */
  readonly #folder: string;
  readonly #log: (message: string) => void;
  readonly #moved = new Map<string, MovedPort>();

  constructor(fabric: FabricHolds, wiring: FabricWiring, folder: string, log: (message: string) => void) {
    this.#fabric = fabric;
    this.#wiring = wiring;
    this.#folder = folder;
    this.#log = log;
  }

  /** `bind` joins the port to its new place. @returns how many frames were in the link. @throws what `bind` throws */
  async begin(end: PortAddress, nio: Pick<NioRecord, 'lport' | 'rport'>, bind: () => Promise<unknown>): Promise<number> {
    const before = this.#wiring.find(end);
    const ids = [...(before ? possibleLinkIds(before.nio) : []), ...possibleLinkIds(nio)];
    const file = join(this.#folder, `moved-${nio.lport}`);
    let frames = 0;
    let states: FilterState[][] = [];
    let isHeld = false;
    await this.end(end);
    try {
      await this.#fabric.hold(ids, leaseMs, []);
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const directions = this.#directions(end);
      frames = await this.#fabric.saveFrames(file, directions);
      states = await this.#fabric.filterStates(directions);
      const limit = setTimeout(() => void this.end(end), longestMs).unref();
      this.#moved.set(keyOf(end), { ids, file, limit });
      isHeld = true;
    } catch (error) {
      this.#log(`frames of a link are not held: ${error}`);
      await rm(file, { force: true }).catch(() => undefined);
    }
    try {
      await bind();
    } catch (error) {
      await this.end(end);
      throw error;
    } finally {
      // Frames are released when the port has its new place, and not only at the end of the fabric's lease.
      if (!isHeld) await this.#fabric.release(ids, []).catch(() => undefined);
    }
    const continued = states.length > 0 && this.#fabric.continueFilters(this.#directions(end), states);
    if (continued) await continued.catch((error: unknown) => this.#log(`filters of a link begin anew: ${error}`));
    return frames;
  }

  /** The frames leave. Never rejects; nothing happens to a port that was not moved. */
  async end(end: PortAddress): Promise<void> {
    const moved = this.#moved.get(keyOf(end));
    this.#moved.delete(keyOf(end));
    if (!moved) return;
    clearTimeout(moved.limit);
    try {
      const directions = this.#directions(end);
      if (directions.length > 0) await this.#fabric.loadFrames(moved.file, directions);
    } catch (error) {
      this.#log(`frames of a link were lost: ${error}`);
    } finally {
      await this.#fabric.release(moved.ids, []).catch(() => undefined);
      await rm(moved.file, { force: true }).catch(() => undefined);
    }
  }

  /** Returns the directions from and to the port; none while it has no link. */
  #directions(end: PortAddress): DirectionPlace[] {
    const place = this.#wiring.placeOf(end);
    if (!place) return [];
    const { linkId: link, side } = place;
    return side === 'a'
      ? [
          { link, direction: 'ab' },
          { link, direction: 'ba' },
        ]
      : [
          { link, direction: 'ba' },
          { link, direction: 'ab' },
        ];
  }
}

function keyOf({ nodeId, adapter, port }: PortAddress): string {
  return `${nodeId}/${adapter}/${port}`;
}
