/**
 * Moves of nodes and drawings, shown immediately. One request is under way at a time; moves made meanwhile, such as those of a key that
 * is held down, become the next request.
 */
import { batch } from '@preact/signals';
import type { Point } from '../geometry/geometry.ts';

export interface Move {
  readonly id: string;
  readonly from: Point;
  readonly to: Point;
}

export interface MovesOptions {
  readonly hold: (id: string, place: Point) => void;
  readonly release: (id: string) => void;
  /** All or none. */
  readonly send: (places: ReadonlyMap<string, Point>) => Promise<void>;
}

export class Moves {
  readonly #options: MovesOptions;
  /** Moves that are not sent yet. `from` is the last position that the server has, or is being sent. */
  #waiting = new Map<string, Move>();
  #sending: Promise<void> | undefined;

  constructor(options: MovesOptions) {
    this.#options = options;
  }

  /** Resolves when the moves are stored. @throws ApiError they are reverted then */
  add(moves: readonly Move[]): Promise<void> {
    if (moves.length === 0) return Promise.resolve();
    batch(() => {
      for (const { id, from, to } of moves) {
        const place = { x: to.x, y: to.y };
        this.#options.hold(id, place);
        this.#waiting.set(id, { id, from: this.#waiting.get(id)?.from ?? { x: from.x, y: from.y }, to: place });
      }
    });
    const sending = (this.#sending ?? Promise.resolve()).catch(() => undefined).then(() => this.#send());
    this.#sending = sending;
    return sending;
  }

  /** Resolves when nothing is under way, whether the server refused it or not. */
  async settled(): Promise<void> {
    await this.#sending?.catch(() => undefined);
  }

  /** Sends what waits; nothing when an earlier call has sent it. */
  async #send(): Promise<void> {
    const moves = this.#waiting;
    if (moves.size === 0) return;
    this.#waiting = new Map();
    try {
      await this.#options.send(new Map([...moves.values()].map(({ id, to }) => [id, to])));
    } catch (error) {
      batch(() => this.#revert(moves));
      throw error;
    }
    for (const id of moves.keys()) if (!this.#waiting.has(id)) this.#options.release(id);
  }

  #revert(moves: ReadonlyMap<string, Move>): void {
    for (const { id, from } of moves.values()) {
      const later = this.#waiting.get(id);
      if (later) this.#waiting.set(id, { ...later, from });
      else {
        this.#options.hold(id, from);
        this.#options.release(id);
      }
    }
  }
}
