/** Which part of the scene is seen: a place and a scale. `window = scene * scale + offset`, in pixels of the canvas. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Point } from './geometry.ts';
import { type Box, centreOf } from './geometry.ts';

export interface ViewportState {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export const scaleLimits = { lowest: 0.05, highest: 4 } as const;
/** Labels are too small to be read below this scale. */
const nearScale = 0.45;
const fitMarginPx = 60;
const showMarginPx = 40;
const fitHighest = 1;
/** Where panels leave less than this there is no better place than below them. */
const leastSeenPx = 120;

export class Viewport {
  readonly state: Signal<ViewportState> = signal({ x: 0, y: 0, scale: 1 });
  /** Of the canvas, and where it lies in the window. */
  readonly area = signal({ left: 0, top: 0, width: 0, height: 0 });
  /** How far the zoom bar and, in narrow windows, panels reach over the canvas. */
  readonly covered = signal({ left: 0, right: 0, bottom: 0 });
  /** The part of the canvas over which nothing lies, in its pixels. */
  readonly seen: ReadonlySignal<Box> = computed(() => {
    const { width, height } = this.area.value;
    const { left, right, bottom } = this.covered.value;
    const [freeWidth, freeHeight] = [width - left - right, height - bottom];
    return {
      ...(freeWidth < leastSeenPx ? { x: 0, width } : { x: left, width: freeWidth }),
      ...{ y: 0, height: freeHeight < leastSeenPx ? height : freeHeight },
    };
  });
  readonly detail: ReadonlySignal<'near' | 'far'> = computed(() => (this.state.value.scale < nearScale ? 'far' : 'near'));

  /** Of a place in the window, such as a pointer's. */
  toScene(clientX: number, clientY: number): Point {
    const { x, y, scale } = this.state.peek();
    const { left, top } = this.area.peek();
    return { x: (clientX - left - x) / scale, y: (clientY - top - y) / scale };
  }

  /** Of a place in the scene, in pixels of the canvas. */
  toCanvas({ x, y }: Point): Point {
    const state = this.state.peek();
    return { x: x * state.scale + state.x, y: y * state.scale + state.y };
  }

  /** Of a place in the scene, in the window. */
  windowPlace(place: Point): Point {
    const { left, top } = this.area.peek();
    const { x, y } = this.toCanvas(place);
    return { x: x + left, y: y + top };
  }

  /** Whether a part of the scene lies in what is seen; of one that is larger, whether its middle does. */
  shows(box: Box, seen: Box = this.seen.peek()): boolean {
    const { scale } = this.state.peek();
    const { x, y } = this.toCanvas(box);
    const fits = (place: number, size: number, room: number) =>
      size > room ? place + size / 2 >= 0 && place + size / 2 <= room : place >= 0 && place + size <= room;
    return fits(x - seen.x, box.width * scale, seen.width) && fits(y - seen.y, box.height * scale, seen.height);
  }

  /** Moves as little as is needed to have a part of the scene in sight. */
  show(box: Box): void {
    const { scale } = this.state.peek();
    const seen = this.seen.peek();
    const { x, y } = this.toCanvas(box);
    const shift = (place: number, size: number, room: number) =>
      place < showMarginPx ? showMarginPx - place : Math.min(0, Math.max(room - showMarginPx - size, showMarginPx) - place);
    this.pan(shift(x - seen.x, box.width * scale, seen.width), shift(y - seen.y, box.height * scale, seen.height));
  }

  /** Of what is seen, in the scene. */
  centre(): Point {
    const { left, top } = this.area.peek();
    const { x, y } = centreOf(this.seen.peek());
    return this.toScene(left + x, top + y);
  }

  pan(dx: number, dy: number): void {
    const { x, y, scale } = this.state.peek();
    this.state.value = { x: x + dx, y: y + dy, scale };
  }

  /** Around a place in the window, which stays where it is; without one, around the middle of what is seen. */
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

  /** Shows a part of the scene whole; without one, its origin in the middle. */
  fit(box: Box | undefined): void {
    const { width, height } = this.seen.peek();
    const middle = centreOf(this.seen.peek());
    if (!box) {
      this.state.value = { ...middle, scale: 1 };
      return;
    }
    const room = (size: number) => Math.max(1, size - 2 * fitMarginPx);
    const wanted = Math.min(room(width) / Math.max(1, box.width), room(height) / Math.max(1, box.height));
    const scale = Math.min(fitHighest, Math.max(scaleLimits.lowest, wanted));
    const { x, y } = centreOf(box);
    this.state.value = { x: middle.x - x * scale, y: middle.y - y * scale, scale };
  }
}
