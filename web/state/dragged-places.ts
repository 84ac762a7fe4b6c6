/**
 * Places of nodes and drawings while they are dragged. Views that draw an item read its place here; the project itself changes once,
 * when the items are let go, so that a frame of a drag costs what is dragged and not the size of the lab.
 */
import { batch, type Signal, signal } from '@preact/signals';
import type { Point } from '../geometry/geometry.ts';

export class DraggedPlaces {
  /** Shift of the whole canvas in the place of single places, while all items are dragged. Scene pixels. */
  readonly all = signal<Point | undefined>(undefined);
  readonly #places = new Map<string, Signal<Point | undefined>>();
  #ids: readonly string[] = [];

  /** The item at the place where it is drawn. Inside a signal it runs again when this item is dragged further. */
  placed<T extends Point>(id: string, item: T): T {
    const place = this.#signalOf(id).value;
    return place ? { ...item, x: place.x, y: place.y } : item;
  }

  /** `places`: of the same items in each frame of a drag. */
  show(places: ReadonlyMap<string, Point>): void {
    batch(() => {
      this.#ids = [...places.keys()];
      for (const [id, place] of places) this.#signalOf(id).value = place;
    });
  }

  /** Draws all items where the project has them. */
  clear(): void {
    batch(() => {
      this.all.value = undefined;
      for (const id of this.#ids) this.#signalOf(id).value = undefined;
      this.#ids = [];
    });
  }

  #signalOf(id: string): Signal<Point | undefined> {
    const place = this.#places.get(id) ?? signal<Point | undefined>(undefined);
    this.#places.set(id, place);
    return place;
  }
}
