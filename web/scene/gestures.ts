/** Pointer and wheel on the canvas. The canvas has the listeners; items have none. */

import type { Point } from '../geometry/geometry.ts';
import { boxBetween, overlaps } from '../geometry/geometry.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import type { LabelPart } from '../state/selection.ts';
import { openDefault } from './activate.ts';
import { crowdCode, isCrowd } from './crowd.ts';
import { dragHandle } from './drag-handle.ts';
import { type Drag, DragItems } from './drag-items.ts';
import { dragEnd, dragWire } from './drag-wire.ts';
import { drawShape } from './draw-shape.ts';
import { dropTemplate } from './drop.ts';
import { dragLabel } from './labels.ts';
import type { Handle } from './resize.ts';
import { pickPort } from './wiring.ts';

/** A shorter movement is a click. Pixels. */
const jitterPx = 4;
const wheelZoom = 0.0015;
/** A pinch on a trackpad arrives as small turns of the wheel; a wheel turns by 100 or more at once. */
const pinchGain = 6;
const mostTurn = 120;
const linePx = 30;

interface Press {
  readonly start: PointerEvent;
  readonly id: string | undefined;
  readonly label: LabelPart | undefined;
  readonly handle: Handle | undefined;
  /** The press is on the handle of a node from which a link is dragged. */
  readonly isWire: boolean;
  /** End of the selected link whose handle is pressed. */
  readonly end: 0 | 1 | undefined;
  moved: boolean;
  drag: Drag | undefined;
}

export class Gestures {
  readonly #app: App;
  readonly #project: ProjectState;
  readonly #svg: SVGSVGElement;
  readonly #ended = new AbortController();
  /** Pointers that are down, for pinching. */
  readonly #pointers = new Map<number, PointerEvent>();
  #press: Press | undefined;
  #spaceDown = false;
  /** The item clicked last: on a double click the browser reports the canvas, which has captured the pointer. */
  #clicked: { readonly id: string | undefined; readonly label: LabelPart | undefined } = { id: undefined, label: undefined };

  constructor(app: App, project: ProjectState, svg: SVGSVGElement) {
    this.#app = app;
    this.#project = project;
    this.#svg = svg;
    // Focusable for keys and screen readers.
    svg.tabIndex = 0;
    const options = { signal: this.#ended.signal };
    svg.addEventListener('pointerdown', (event) => this.#down(event), options);
    svg.addEventListener('blur', () => delete svg.dataset.pressed, options);
    svg.addEventListener('pointermove', (event) => this.#move(event), options);
    svg.addEventListener('pointerup', (event) => this.#up(event), options);
    svg.addEventListener('pointerleave', () => this.#leave(), options);
    svg.addEventListener('pointercancel', (event) => this.#cancel(event), options);
    svg.addEventListener('dblclick', () => this.#twice(), options);
    svg.addEventListener('contextmenu', (event) => this.#menu(event), options);
    svg.addEventListener('wheel', (event) => this.#wheel(event), { ...options, passive: false });
    svg.addEventListener('dragover', (event) => event.preventDefault(), options);
    svg.addEventListener('drop', (event) => dropTemplate(app, project, event), options);
    addEventListener('keydown', (event) => this.#space(event, true), options);
    addEventListener('keyup', (event) => this.#space(event, false), options);
  }

  end(): void {
    this.#ended.abort();
    this.#app.tools.pressing.value = false;
  }

  #down(event: PointerEvent): void {
    this.#app.tools.menu.value = undefined;
    // Browsers draw a frame around what the page focuses first, as for the keyboard.
    this.#svg.dataset.pressed = '';
    this.#svg.focus({ preventScroll: true });
    // The menu that opens may receive the release.
    if (event.button === 2) return;
    this.#pointers.set(event.pointerId, event);
    this.#app.tools.pressing.value = true;
    if (this.#pointers.size === 2) {
      this.#press?.drag?.cancel();
      this.#press = undefined;
      return;
    }
    if (this.#pointers.size > 2) return;
    const id = this.#idAt(event);
    this.#clicked = { id, label: labelUnder(event.target) };
    this.#press = {
      start: event,
      id,
      label: labelUnder(event.target),
      handle: handleUnder(event.target),
      isWire: isWireHandle(event.target),
      end: linkEndUnder(event.target),
      moved: false,
      drag: undefined,
    };
    this.#svg.setPointerCapture(event.pointerId);
    const { name } = this.#app.tools.tool.peek();
    // A handle belongs to the selection, whichever modifier is held.
    const { handle, isWire, end } = this.#press;
    const isHandle = handle !== undefined || isWire || end !== undefined;
    if (name === 'select' && event.button === 0 && !this.#spaceDown && !isHandle) this.#select(event, id);
  }

  /** Selects the pressed item. An item in the selection keeps the others selected, for a drag of all. */
  #select(event: PointerEvent, id: string | undefined): void {
    const { selection } = this.#project;
    const adds = event.shiftKey || event.ctrlKey || event.metaKey;
    if (id === undefined) {
      // A finger may start a scroll, or be the first of two.
      if (!adds && event.pointerType !== 'touch') selection.clear();
    } else if (adds) selection.toggle(id);
    else if (!selection.has(id)) selection.set([id]);
  }

  #leave(): void {
    this.#app.hovered.value = undefined;
    this.#project.presence.pointer.value = undefined;
  }

  #move(event: PointerEvent): void {
    this.#project.presence.pointer.value = this.#app.viewport.toScene(event.clientX, event.clientY);
    if (this.#pointers.size === 0) this.#hover(event);
    const before = this.#pointers.get(event.pointerId);
    if (this.#pointers.size === 2 && before) this.#pinch(before, event);
    if (before) this.#pointers.set(event.pointerId, event);
    this.#showWire(event);
    const press = this.#press;
    if (!press || !before || this.#pointers.size > 1) return;
    const far = Math.hypot(event.clientX - press.start.clientX, event.clientY - press.start.clientY) >= jitterPx;
    if (!press.moved && !far) return;
    if (!press.moved) {
      press.moved = true;
      press.drag = this.#begin(press);
    }
    press.drag?.move(event, before);
  }

  /** Fingers do not hover. */
  #hover({ target, pointerType }: PointerEvent): void {
    const node = (target as Element | null)?.closest<SVGElement>('.node, .wire-handle');
    this.#app.hovered.value = pointerType === 'touch' ? undefined : node?.dataset.id;
  }

  #begin({ start, id, label, handle, isWire, end }: Press): Drag {
    const tool = this.#app.tools.tool.peek();
    const isPan =
      start.button === 1 || this.#spaceDown || (start.pointerType === 'touch' && id === undefined && tool.name !== 'draw');
    if (isPan) return this.#panning();
    if (tool.name === 'draw') return drawShape(this.#app, this.#project, tool.shape, start);
    if (isWire && id !== undefined) return dragWire(this.#app, this.#project, id);
    const link = end !== undefined && id !== undefined ? this.#project.links.peek(id) : undefined;
    if (link && end !== undefined) return dragEnd(this.#app, this.#project, link, end);
    const drawing = handle && id !== undefined ? this.#project.drawings.peek(id) : undefined;
    if (handle && drawing) return dragHandle(this.#app, this.#project, handle, { drawing, start });
    if (tool.name === 'select' && id !== undefined && label !== undefined)
      return dragLabel(this.#app, this.#project, { id, part: label }, start);
    if (tool.name === 'select' && id !== undefined && this.#project.findItem(id))
      return new DragItems(this.#app, this.#project, start);
    if (tool.name === 'select' && id === undefined) return this.#boxing(start);
    return idle;
  }

  #up(event: PointerEvent): void {
    const press = this.#press;
    this.#pointers.delete(event.pointerId);
    this.#press = undefined;
    if (press?.moved) press.drag?.end();
    else if (press && event.button === 0) this.#click(event, press);
    this.#app.tools.pressing.value = this.#pointers.size > 0;
  }

  #click(event: PointerEvent, { id, label, handle, isWire }: Press): void {
    // A click on the handle of a node begins a link there, and offers its ports.
    if (isWire) this.#app.tools.tool.value = { name: 'wire' };
    const tool = this.#app.tools.tool.peek();
    if (tool.name === 'wire') pickPort(this.#app, this.#project, { nodeId: id, x: event.clientX, y: event.clientY });
    else if (tool.name === 'draw') drawShape(this.#app, this.#project, tool.shape, event).end();
    else if (id === undefined) {
      if (event.pointerType === 'touch') this.#project.selection.clear();
    } else if (!handle && !event.shiftKey && !event.ctrlKey && !event.metaKey) this.#project.selection.set([id], label);
  }

  #cancel(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    this.#press?.drag?.cancel();
    this.#press = undefined;
    this.#app.tools.pressing.value = this.#pointers.size > 0;
  }

  /** The item under the pointer. */
  #idAt({ target, clientX, clientY }: MouseEvent): string | undefined {
    const id = (target as Element | null)?.closest<SVGElement>('[data-id]')?.dataset.id;
    const code = crowdCode.peek();
    if (id !== undefined || typeof code !== 'object' || !isCrowd(this.#app, this.#project)) return id;
    return code.nodeInCrowd(this.#app, this.#project, this.#app.viewport.toScene(clientX, clientY));
  }

  #twice(): void {
    const { id, label } = this.#clicked;
    if (id !== undefined && this.#app.tools.tool.peek().name === 'select') openDefault(this.#app, this.#project, id, label);
  }

  #menu(event: MouseEvent): void {
    event.preventDefault();
    const id = this.#idAt(event);
    if (id === undefined) this.#project.selection.clear();
    else if (!this.#project.selection.has(id)) this.#project.selection.set([id]);
    this.#app.tools.menu.value = { x: event.clientX, y: event.clientY };
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    const { viewport } = this.#app;
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? linePx : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    // A trackpad reports a pinch as a wheel with Ctrl held.
    if (event.ctrlKey || event.metaKey) {
      const turn = Math.max(-mostTurn, Math.min(mostTurn, dy * pinchGain));
      viewport.glide(() => viewport.zoom(Math.exp(-turn * wheelZoom), { x: event.clientX, y: event.clientY }));
    } else viewport.glide(() => (event.shiftKey ? viewport.pan(-dx - dy, 0) : viewport.pan(-dx, -dy)));
  }

  #pinch(before: PointerEvent, now: PointerEvent): void {
    const other = [...this.#pointers.values()].find(({ pointerId }) => pointerId !== now.pointerId);
    if (!other) return;
    const apart = (event: PointerEvent) => Math.max(1, Math.hypot(event.clientX - other.clientX, event.clientY - other.clientY));
    const middle = { x: (now.clientX + other.clientX) / 2, y: (now.clientY + other.clientY) / 2 };
    const { viewport } = this.#app;
    viewport.glide(() => {
      viewport.pan((now.clientX - before.clientX) / 2, (now.clientY - before.clientY) / 2);
      viewport.zoom(apart(now) / apart(before), middle);
    });
  }

  #panning(): Drag {
    const { viewport } = this.#app;
    const move = (now: PointerEvent, before: PointerEvent) =>
      viewport.glide(() => viewport.pan(now.clientX - before.clientX, now.clientY - before.clientY));
    return { move, end: () => undefined, cancel: () => undefined };
  }

  #boxing(start: PointerEvent): Drag {
    const { viewport, sketch } = this.#app;
    const from = viewport.toScene(start.clientX, start.clientY);
    const already = start.shiftKey ? [...this.#project.selection.ids.peek()] : [];
    const clear = () => {
      sketch.value = {};
    };
    const move = (now: PointerEvent) => {
      const box = boxBetween(from, viewport.toScene(now.clientX, now.clientY));
      sketch.value = { box };
      const inside = this.#project.items().filter((item) => overlaps(this.#project.boxOf(item), box));
      this.#project.selection.set([...already, ...inside.map(idOfItem)]);
    };
    return { move, end: clear, cancel: clear };
  }

  #showWire(event: PointerEvent): void {
    const tool = this.#app.tools.tool.peek();
    if (tool.name !== 'wire' || !tool.from) return;
    const to: Point = this.#app.viewport.toScene(event.clientX, event.clientY);
    this.#app.sketch.value = { wire: { from: tool.from, to } };
  }

  #space(event: KeyboardEvent, down: boolean): void {
    if (event.key === ' ' && event.target === this.#svg) {
      this.#spaceDown = down;
      event.preventDefault();
    }
  }
}

/** A drag that does nothing: in link mode only clicks count. */
const idle: Drag = { move: () => undefined, end: () => undefined, cancel: () => undefined };

type AnyItem = ReturnType<ProjectState['items']>[number];
export const idOfItem = (item: AnyItem): string => (item.kind === 'node' ? item.object.node_id : item.object.drawing_id);

function labelUnder(target: EventTarget | null): LabelPart | undefined {
  const part = (target as Element | null)?.closest<SVGElement>('[data-label]')?.dataset.label;
  return part === undefined || part === 'name' ? part : part === '0' ? 0 : 1;
}

const isWireHandle = (target: EventTarget | null) => (target as Element | null)?.closest('[data-wire]') !== null;

function linkEndUnder(target: EventTarget | null): 0 | 1 | undefined {
  const end = (target as Element | null)?.closest<SVGElement>('[data-link-end]')?.dataset.linkEnd;
  return end === undefined ? undefined : end === '0' ? 0 : 1;
}

function handleUnder(target: EventTarget | null): Handle | undefined {
  return (target as Element | null)?.closest<SVGElement>('[data-handle]')?.dataset.handle as Handle | undefined;
}
