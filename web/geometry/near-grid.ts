/**
 * Finds what lies near a box without a look at everything: items are filed by the cells of a grid that they touch. Those that touch very
 * many, as a lab may have nodes anywhere, are near everything.
 */
import { crosses } from './curve.ts';
import { type Box, boxBetween, type Point } from './geometry.ts';

const cellPx = 80;
/** Cells on a side of the plane; a scene is smaller. */
const span = 2 ** 20;
/** Most cells of an item. */
const mostCells = 2_000;

export class NearGrid<T extends object> {
  readonly #cells = new Map<number, T[]>();
  readonly #everywhere: T[] = [];

  addBox(item: T, box: Box): void {
    if (isLarge(box)) this.#everywhere.push(item);
    else eachCell(box, (key) => this.#add(key, item));
  }

  addLine(item: T, from: Point, to: Point): void {
    if (partsOf(from, to) > mostCells) {
      this.#everywhere.push(item);
      return;
    }
    eachPart(from, to, (one, other) =>
      eachCell(boxBetween(one, other), (key) => {
        if (crosses(cellOf(key), one, other)) this.#add(key, item);
      }),
    );
  }

  /** Removes a box that was added. */
  removeBox(item: T, box: Box): void {
    if (isLarge(box)) remove(this.#everywhere, item);
    else eachCell(box, (key) => remove(this.#cells.get(key) ?? [], item));
  }

  /** Visits items in the cells that a box touches; one in several cells is visited more than once. */
  visit(box: Box, visit: (item: T) => void): void {
    for (const item of this.#everywhere) visit(item);
    if (isLarge(box)) for (const cell of this.#cells.values()) for (const item of cell) visit(item);
    else
      eachCell(box, (key) => {
        for (const item of this.#cells.get(key) ?? []) visit(item);
      });
  }

  /** Whether an item in the cells along a line is wanted. A line of very many cells is no way to look: it finds nothing. */
  someOnLine(from: Point, to: Point, isWanted: (item: T) => boolean): boolean {
    const count = partsOf(from, to);
    if (count > mostCells) return false;
    if (this.#everywhere.some(isWanted)) return true;
    for (let place = 0; place < count; place += 1) {
      const one = partAt(from, to, place / count);
      if (this.#someIn(boxBetween(one, partAt(from, to, (place + 1) / count)), isWanted)) return true;
    }
    return false;
  }

  #someIn({ x, y, width, height }: Box, isWanted: (item: T) => boolean): boolean {
    const right = cellAt(x + width);
    const bottom = cellAt(y + height);
    for (let column = cellAt(x); column <= right; column += 1)
      for (let row = cellAt(y); row <= bottom; row += 1) if (this.#cells.get(keyOf(column, row))?.some(isWanted)) return true;
    return false;
  }

  #add(key: number, item: T): void {
    const cell = this.#cells.get(key);
    if (!cell) this.#cells.set(key, [item]);
    else if (cell.at(-1) !== item) cell.push(item);
  }
}

const isLarge = ({ width, height }: Box) => (width / cellPx + 1) * (height / cellPx + 1) > mostCells;

function remove<T>(items: T[], item: T): void {
  const place = items.indexOf(item);
  if (place >= 0) items.splice(place, 1);
}

/** Number of parts of a line that are no longer than a cell. */
const partsOf = (from: Point, to: Point) => Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / cellPx));

function eachPart(from: Point, to: Point, visit: (one: Point, other: Point) => void): void {
  const count = partsOf(from, to);
  for (let place = 0; place < count; place += 1) visit(partAt(from, to, place / count), partAt(from, to, (place + 1) / count));
}

const partAt = (from: Point, to: Point, part: number): Point => ({
  x: from.x + (to.x - from.x) * part,
  y: from.y + (to.y - from.y) * part,
});

function cellOf(key: number): Box {
  const column = Math.floor(key / span) - span / 2;
  const row = (key % span) - span / 2;
  return { x: column * cellPx, y: row * cellPx, width: cellPx, height: cellPx };
}

function eachCell({ x, y, width, height }: Box, visit: (key: number) => void): void {
  const right = cellAt(x + width);
  const bottom = cellAt(y + height);
  for (let column = cellAt(x); column <= right; column += 1)
    for (let row = cellAt(y); row <= bottom; row += 1) visit(keyOf(column, row));
}

const cellAt = (pixels: number) => Math.floor(pixels / cellPx);
const keyOf = (column: number, row: number) => (column + span / 2) * span + row + span / 2;
