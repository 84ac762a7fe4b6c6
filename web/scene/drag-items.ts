/** Drags the selection: rendered immediately, sent to the server on release. */

import type { Point } from '../geometry/geometry.ts';
import { type Box, snapped } from '../geometry/geometry.ts';
import type { App } from '../state/app.ts';
import type { Item, ProjectState } from '../state/project.ts';
import { moveItems } from './move-items.ts';

/** A gesture, from its first movement on. */
export interface Drag {
  move(now: PointerEvent, before: PointerEvent): void;
  end(): void;
  cancel(): void;
}

interface Dragged {
  readonly id: string;
  readonly item: Item;
  readonly box: Box;
}

export class DragItems implements Drag {
  readonly #app: App;
  readonly #project: ProjectState;
  readonly #from: Point;
  readonly #dragged: readonly Dragged[];
  #frame = 0;
  #by: Point = { x: 0, y: 0 };

  constructor(app: App, project: ProjectState, start: PointerEvent) {
    this.#app = app;
    this.#project = project;
    this.#from = app.viewport.toScene(start.clientX, start.clientY);
    this.#dragged = [...project.selection.ids.peek()].flatMap((id) => {
      const item = project.findItem(id);
      return item && !item.object.locked ? [{ id, item, box: project.boxOf(item) }] : [];
    });
  }

  move(now: PointerEvent): void {
    const at = this.#app.viewport.toScene(now.clientX, now.clientY);
    this.#by = { x: at.x - this.#from.x, y: at.y - this.#from.y };
    this.#frame ||= requestAnimationFrame(() => this.#show());
  }

  end(): void {
    cancelAnimationFrame(this.#frame);
    const places = this.#dragged.map(({ id, item, box }) => ({ id, from: box, to: this.#placeOf(item, box) }));
    void this.#app.toasts.attempt(() => moveItems(this.#project, places));
  }

  cancel(): void {
    cancelAnimationFrame(this.#frame);
    for (const { id, box } of this.#dragged) {
      this.#project.hold(id, { x: box.x, y: box.y });
      this.#project.release(id);
    }
  }

  #show(): void {
    this.#frame = 0;
    for (const { id, item, box } of this.#dragged) this.#project.hold(id, this.#placeOf(item, box));
  }

  #placeOf(item: Item, box: Box): Point {
    const settings = this.#project.project.peek();
    const to = { x: box.x + this.#by.x, y: box.y + this.#by.y };
    const gridPx = item.kind === 'node' ? settings?.grid_size : settings?.drawing_grid_size;
    return snapped(to, box, settings?.snap_to_grid ? (gridPx ?? 1) : 1);
  }
}
