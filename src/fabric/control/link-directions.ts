/** Content of directions of links, for memory that is saved and continued: frames that wait, and where filters are in their sequences. */
import { setImmediate as turn } from 'node:timers/promises';
import { readFrames, writeFrames } from '../links/frames-file.ts';
import type { FabricLink } from '../links/link.ts';
import type { DirectionPlace, FilterState } from '../protocol.ts';

/** Turns of the event loop for frames that were sent before: each reads the sockets until they are empty, and a switch adds a turn. */
const readTurns = 12;

export class LinkDirections {
  readonly #find: (id: string) => FabricLink | undefined;

  constructor(find: (id: string) => FabricLink | undefined) {
    this.#find = find;
  }

  /** Writes the frames that wait in held links to a file, when all that was sent to the fabric before has been read. */
  async save(path: string, places: readonly DirectionPlace[]): Promise<number> {
    for (let turns = 0; turns < readTurns; turns++) await turn();
    return writeFrames(path, this.#of(places));
  }

  load(path: string, places: readonly DirectionPlace[]): Promise<number> {
    return readFrames(path, this.#of(places));
  }

  /** Filter states of each direction; none for a link that does not exist. */
  filterStates(places: readonly DirectionPlace[]): FilterState[][] {
    return places.map(({ link, direction }) => this.#find(link)?.filterStates(direction) ?? []);
  }

  continueFilters(places: readonly DirectionPlace[], states: readonly (readonly FilterState[])[]): void {
    for (const [index, { link, direction }] of places.entries()) this.#find(link)?.continueFilters(direction, states[index] ?? []);
  }

  #of(places: readonly DirectionPlace[]) {
    return places.map(({ link, direction }) => this.#find(link)?.direction(direction));
  }
}
