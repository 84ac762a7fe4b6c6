/** Which part of the scene is seen: a place and a scale. `window = scene * scale + offset`, in pixels of the canvas. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Point } from '../state/project.ts';
import type { Box } from './geometry.ts';

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

export class Viewport {
  readonly state: Signal<ViewportState> = signal({ x: 0, y: 0, scale: 1 });
  /** Of the canvas, and where it lies in the window. */
  readonly area = signal({ left: 0, top: 0, width: 0, height: 0 });
  readonly detail: ReadonlySignal<'near' | 'far'> = computed(() => (this.state.value.scale < nearScale ? 'far' : 'near'));

  /** Of a place in the window, such as a pointer's. */
  toScene(clientX: number, clientY: number): Point {
    const { x, y, scale } = this.state.peek();
    const { left, top } = this.area.peek();
    return { x: (clientX - left - x) / scale, y: (clientY - top - y) / scale };
  }

  /** Of a place in the scene, in pixels of the canvas. */
  toCanvas({ x, y }: Point): Point {
    const state = this.state.value;
    return { x: x * state.scale + state.x, y: y * state.scale + state.y };
  }

  /** Of a place in the scene, in the window. */
  windowPlace(place: Point): Point {
    const { left, top } = this.area.peek();
    const { x, y } = this.toCanvas(place);
    return { x: x + left, y: y + top };
  }

  /** Moves as little as is needed to have a part of the scene in sight. */
  show(box: Box): void {
    const { scale } = this.state.peek();
    const { width, height } = this.area.peek();
    const { x, y } = this.toCanvas(box);
    const shift = (place: number, size: number, room: number) =>
      place < showMarginPx ? showMarginPx - place : Math.min(0, room - showMarginPx - size - place);
    this.pan(shift(x, box.width * scale, width), shift(y, box.height * scale, height));
  }

  centre(): Point {
    const { left, top, width, height } = this.area.peek();
    return this.toScene(left + width / 2, top + height / 2);
  }

  pan(dx: number, dy: number): void {
    const { x, y, scale } = this.state.peek();
    this.state.value = { x: x + dx, y: y + dy, scale };
  }

  /** Around a place in the window, which stays where it is; without one, around the centre. */
  zoom(factor: number, at?: Point): void {
    const { x, y, scale } = this.state.peek();
    const { left, top, width, height } = this.area.peek();
    const next = Math.min(scaleLimits.highest, Math.max(scaleLimits.lowest, scale * factor));
    const [px, py] = at ? [at.x - left, at.y - top] : [width / 2, height / 2];
    this.state.value = { x: px - ((px - x) * next) / scale, y: py - ((py - y) * next) / scale, scale: next };
  }

  zoomTo(scale: number): void {
    this.zoom(scale / this.state.peek().scale);
  }

  /** Shows a part of the scene whole; without one, its origin in the centre. */
  fit(box: Box | undefined): void {
    const { width, height } = this.area.peek();
    if (!box) {
      this.state.value = { x: width / 2, y: height / 2, scale: 1 };
      return;
    }
    const room = (size: number) => Math.max(1, size - 2 * fitMarginPx);
    const wanted = Math.min(room(width) / Math.max(1, box.width), room(height) / Math.max(1, box.height));
    const scale = Math.min(fitHighest, Math.max(scaleLimits.lowest, wanted));
    this.state.value = {
      x: width / 2 - (box.x + box.width / 2) * scale,
      y: height / 2 - (box.y + box.height / 2) * scale,
      scale,
    };
  }
}
