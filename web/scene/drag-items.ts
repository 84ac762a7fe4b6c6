/** Drags the selection: drawn immediately, put into the project and sent to the server on release. */
import { batch } from '@preact/signals';
import { around, type Box, type Point, snapped } from '../geometry/geometry.ts';
import { snapTo } from '../geometry/snapping.ts';
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

/** Distance on the screen at which items snap to others. */
const nearPx = 6;

export class DragItems implements Drag {
  readonly #app: App;
  readonly #project: ProjectState;
  readonly #from: Point;
  readonly #dragged: readonly Dragged[];
  /** Nothing stays behind, so that the canvas moves as one. */
  readonly #isAll: boolean;
  /** Around all dragged items. */
  readonly #box: Box | undefined;
  /** Visible items that are not dragged. */
  readonly #others: readonly Box[];
  #frame = 0;
  #by: Point = { x: 0, y: 0 };
  /** Alt is held. */
  #isFree = false;

  constructor(app: App, project: ProjectState, start: PointerEvent) {
    this.#app = app;
    this.#project = project;
    this.#from = app.viewport.toScene(start.clientX, start.clientY);
    this.#dragged = draggedItems(project, project.groups.withMembers(project.selection.ids.peek()));
    this.#isAll = this.#dragged.length === project.nodes.ids.peek().length + project.drawings.ids.peek().length;
    this.#box = around(this.#dragged.map(({ box }) => box));
    const dragged = new Set(this.#dragged.map(({ id }) => id));
    this.#others = project
      .items()
      .filter((item) => !dragged.has(idOf(item)))
      .map((item) => project.boxOf(item))
      .filter((box) => app.viewport.shows(box));
  }

  move(now: PointerEvent): void {
    const at = this.#app.viewport.toScene(now.clientX, now.clientY);
    this.#by = { x: at.x - this.#from.x, y: at.y - this.#from.y };
    this.#isFree = now.altKey;
    this.#frame ||= requestAnimationFrame(() => this.#show());
  }

  end(): void {
    const by = this.#snap().by;
    const places = this.#dragged.map(({ id, item, box }) => ({ id, from: box, to: this.#placeOf(item, box, by) }));
    batch(() => {
      this.cancel();
      void this.#app.toasts.attempt(() => moveItems(this.#project, places));
    });
  }

  cancel(): void {
    cancelAnimationFrame(this.#frame);
    this.#app.sketch.value = {};
    this.#project.drawn.dragged.clear();
  }

  #show(): void {
    this.#frame = 0;
    const { by, guides } = this.#snap();
    batch(() => {
      this.#app.sketch.value = { guides };
      const { dragged } = this.#project.drawn;
      const [first] = this.#dragged;
      if (first && this.#isAll) {
        const { x, y } = this.#placeOf(first.item, first.box, by);
        dragged.all.value = { x: x - first.box.x, y: y - first.box.y };
      } else dragged.show(new Map(this.#dragged.map(({ id, item, box }) => [id, this.#placeOf(item, box, by)])));
    });
  }

  /** The grid of the project wins over other items. */
  #snap() {
    const by = this.#by;
    if (!this.#box || this.#isFree || this.#project.project.peek()?.snap_to_grid) return { by, guides: [] };
    const moved = { ...this.#box, x: this.#box.x + by.x, y: this.#box.y + by.y };
    const { dx, dy, guides } = snapTo(this.#others, moved, nearPx / this.#app.viewport.state.peek().scale);
    return { by: { x: by.x + dx, y: by.y + dy }, guides };
  }

  #placeOf(item: Item, box: Box, by: Point): Point {
    const settings = this.#project.project.peek();
    const to = { x: box.x + by.x, y: box.y + by.y };
    const gridPx = item.kind === 'node' ? settings?.grid_size : settings?.drawing_grid_size;
    return snapped(to, box, settings?.snap_to_grid ? (gridPx ?? 1) : 1);
  }
}

const idOf = (item: Item) => (item.kind === 'node' ? item.object.node_id : item.object.drawing_id);

function draggedItems(project: ProjectState, ids: Iterable<string>): Dragged[] {
  return [...ids].flatMap((id) => {
    const item = project.findItem(id);
    return item && !item.object.locked ? [{ id, item, box: project.boxOf(item) }] : [];
  });
}
