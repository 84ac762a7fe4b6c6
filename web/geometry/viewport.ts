/** The visible part of the scene: offset and scale. `window = scene * scale + offset`, in pixels of the canvas. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Point } from './geometry.ts';
import { type Box, centreOf } from './geometry.ts';

export interface ViewportState {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export const scaleLimits = { lowest: 0.05, highest: 4 } as const;
/** Labels are unreadable below this scale. */
export const nearScale = 0.45;
const fitMarginPx = 60;
const showMarginPx = 40;
const fitHighest = 1;
/** Least width that panels leave; with less, an item may lie below them. */
const leastSeenPx = 120;
/** A gesture moves the drawn picture until it shows more than this part of the canvas beyond each of its edges, or is larger than sharp. */
const glideLimits = { beyond: 0.5, scale: 2 } as const;
/** Larger than any scene. */
const everywhere: Box = { x: -1e9, y: -1e9, width: 2e9, height: 2e9 };
/** A pause of this length draws the scene again. */
const glidePauseMs = 150;

export class Viewport {
  readonly state: Signal<ViewportState> = signal({ x: 0, y: 0, scale: 1 });
  /** Size and position of the canvas in the window. */
  readonly area = signal({ left: 0, top: 0, width: 0, height: 0 });
  /** Width of the canvas covered by the zoom bar and, in narrow windows, by panels. */
  readonly covered = signal({ left: 0, right: 0, bottom: 0 });
  /** The uncovered part of the canvas, in its pixels. */
  readonly seen: ReadonlySignal<Box> = computed(() => {
    const { width, height } = this.area.value;
    const { left, right, bottom } = this.covered.value;
    const [freeWidth, freeHeight] = [width - left - right, height - bottom];
    return {
      ...(freeWidth < leastSeenPx ? { x: 0, width } : { x: left, width: freeWidth }),
      ...{ y: 0, height: freeHeight < leastSeenPx ? height : freeHeight },
    };
  });
  /** The state that the scene is drawn for. It stays behind while a gesture moves the drawn picture, which costs less than to draw it. */
  readonly drawn: ReadonlySignal<ViewportState> = computed(() => this.#held.value ?? this.state.value);
  readonly detail: ReadonlySignal<'near' | 'far'> = computed(() => (this.drawn.value.scale < nearScale ? 'far' : 'near'));
  /** Names and marks are drawn in all of the scene, as pictures of it need them. */
  readonly complete = signal(false);
  /**
   * Part of the scene in which names and marks are drawn: the visible part with a margin for gestures. Undefined at small scales.
   */
  readonly detailed: ReadonlySignal<Box | undefined> = computed(() => {
    if (this.complete.value) return everywhere;
    if (this.detail.value === 'far') return undefined;
    const { x, y, scale } = this.drawn.value;
    const { width, height } = this.area.value;
    const { beyond } = glideLimits;
    const part = (1 + 2 * beyond) / scale;
    return { x: (-x - beyond * width) / scale, y: (-y - beyond * height) / scale, width: width * part, height: height * part };
  });
  readonly #held = signal<ViewportState | undefined>(undefined);
  #pause: ReturnType<typeof setTimeout> | undefined;

  /** Converts a point of the window, such as a pointer's, to the scene. */
  toScene(clientX: number, clientY: number): Point {
    const { x, y, scale } = this.state.peek();
    const { left, top } = this.area.peek();
    return { x: (clientX - left - x) / scale, y: (clientY - top - y) / scale };
  }

  /** Converts a point of the scene to pixels of the canvas. */
  toCanvas({ x, y }: Point): Point {
    const state = this.state.peek();
    return { x: x * state.scale + state.x, y: y * state.scale + state.y };
  }

  /** Converts a point of the scene to the window. */
  windowPlace(place: Point): Point {
    const { left, top } = this.area.peek();
    const { x, y } = this.toCanvas(place);
    return { x: x + left, y: y + top };
  }

  /** Whether a box is visible; for a box larger than the view, whether its centre is. */
  shows(box: Box, seen: Box = this.seen.peek()): boolean {
    const { scale } = this.state.peek();
    const { x, y } = this.toCanvas(box);
    const fits = (place: number, size: number, room: number) =>
      size > room ? place + size / 2 >= 0 && place + size / 2 <= room : place >= 0 && place + size <= room;
    return fits(x - seen.x, box.width * scale, seen.width) && fits(y - seen.y, box.height * scale, seen.height);
  }

  /** Scrolls by the smallest distance that makes a box visible. */
  show(box: Box): void {
    const { scale } = this.state.peek();
    const seen = this.seen.peek();
    const { x, y } = this.toCanvas(box);
    const shift = (place: number, size: number, room: number) =>
      place < showMarginPx ? showMarginPx - place : Math.min(0, Math.max(room - showMarginPx - size, showMarginPx) - place);
    this.pan(shift(x - seen.x, box.width * scale, seen.width), shift(y - seen.y, box.height * scale, seen.height));
  }

  /** The visible box, in the scene. */
  centre(): Point {
    const { left, top } = this.area.peek();
    const { x, y } = centreOf(this.seen.peek());
    return this.toScene(left + x, top + y);
  }

  /** Scrolls so that a point of the scene is in the middle of the view. */
  centreOn(place: Point): void {
    const middle = centreOf(this.seen.peek());
    const { x, y } = this.toCanvas(place);
    this.pan(middle.x - x, middle.y - y);
  }

  /** The visible part of the scene. */
  box(): Box {
    const { x, y, scale } = this.state.value;
    const seen = this.seen.value;
    return { x: (seen.x - x) / scale, y: (seen.y - y) / scale, width: seen.width / scale, height: seen.height / scale };
  }

  /** The position and scale of the drawn picture on the canvas. Undefined: it is drawn for the present state. */
  shift(): ViewportState | undefined {
    const { state, drawn } = this;
    if (state.value === drawn.value) return undefined;
    const scale = state.value.scale / drawn.value.scale;
    return { x: state.value.x - drawn.value.x * scale, y: state.value.y - drawn.value.y * scale, scale };
  }

  /** Makes a change that others follow in the next frames. */
  glide(change: () => void): void {
    clearTimeout(this.#pause);
    batch(() => {
      this.#held.value ??= this.state.peek();
      change();
      if (!this.#isDrawn()) this.#held.value = undefined;
    });
    this.#pause = setTimeout(() => {
      this.#held.value = undefined;
    }, glidePauseMs);
  }

  #isDrawn(): boolean {
    const { x, y, scale } = this.shift() ?? { x: 0, y: 0, scale: 1 };
    const { width, height } = this.area.peek();
    const { beyond } = glideLimits;
    const isInside = (place: number, size: number) =>
      -place / scale >= -beyond * size && (size - place) / scale <= (1 + beyond) * size;
    return scale <= glideLimits.scale && isInside(x, width) && isInside(y, height);
  }

  pan(dx: number, dy: number): void {
    const { x, y, scale } = this.state.peek();
    this.state.value = { x: x + dx, y: y + dy, scale };
  }

  /** Zooms around a point of the window, which stays fixed; without one, around the centre of the view. */
  zoom(factor: number, at?: Point): void {
    const { x, y, scale } = this.state.peek();
    const { left, top } = this.area.peek();
    const middle = centreOf(this.seen.peek());
    const next = Math.min(scaleLimits.highest, Math.max(scaleLimits.lowest, scale * factor));
    const [px, py] = at ? [at.x - left, at.y - top] : [middle.x, middle.y];
    this.state.value = { x: px - ((px - x) * next) / scale, y: py - ((py - y) * next) / scale, scale: next };
  }

  zoomTo(scale: number): void {
    this.zoom(scale / this.state.peek().scale);
  }

  /** Shows a point of the scene in the middle of the view. */
  lookAt({ x, y }: Point, scale: number): void {
    const middle = centreOf(this.seen.peek());
    this.state.value = { x: middle.x - x * scale, y: middle.y - y * scale, scale };
  }

  /** Fits a box into the view; without one, centres the origin. */
  fit(box: Box | undefined): void {
    const { width, height } = this.seen.peek();
    const middle = centreOf(this.seen.peek());
    if (!box) {
      this.state.value = { ...middle, scale: 1 };
      return;
    }
    const room = (size: number) => Math.max(1, size - 2 * Math.min(fitMarginPx, size / 8));
    const wanted = Math.min(room(width) / Math.max(1, box.width), room(height) / Math.max(1, box.height));
    const scale = Math.min(fitHighest, Math.max(scaleLimits.lowest, wanted));
    this.lookAt(centreOf(box), scale);
  }
}
