/** Tracks the visible part of the canvas, and keeps the current item visible. */
import { batch, untracked, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { around, type Box, nodeBox } from '../geometry/geometry.ts';
import { type App, useApp } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { sharedViewOf } from '../state/shared-view.ts';

/** Tracks the size of the canvas, and the part that panels cover. */
export function useArea(svg: { readonly current: SVGSVGElement | null }): void {
  const { viewport, tools } = useApp();
  // A panel that opens over the canvas does not resize it.
  const panels = `${tools.paletteOpen.value} ${tools.inspectorOpen.value} ${tools.sidePane.value}`;
  useEffect(() => {
    // The picture's parent has the same box, which stays while a gesture moves the picture.
    const element = svg.current?.parentElement;
    if (!element) return undefined;
    const measure = () => {
      const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
      const panels = [...document.querySelectorAll('.workspace > aside')].map((panel) => panel.getBoundingClientRect());
      const isBelow = (panel: DOMRect) => panel.left <= left && panel.right >= right;
      const beside = panels.filter((panel) => !isBelow(panel));
      const zoomBar = document.querySelector('.zoom-bar')?.getBoundingClientRect();
      const over = (depths: readonly number[]) => Math.max(0, ...depths);
      batch(() => {
        viewport.area.value = { left, top, width, height };
        viewport.covered.value = {
          left: over(beside.filter((panel) => panel.left <= left).map((panel) => panel.right - left)),
          right: over(beside.filter((panel) => panel.right >= right).map((panel) => right - panel.left)),
          bottom: over([...panels.filter(isBelow), ...(zoomBar ? [zoomBar] : [])].map((panel) => bottom - panel.top)),
        };
      });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [viewport, svg, panels]);
}

/** Shows a project when it opens: as its address says, else all of it. */
export function useFirstFit(project: ProjectState): void {
  const { viewport } = useApp();
  const done = useRef(false);
  useSignalEffect(() => {
    if (done.current || project.phase.value !== 'opened' || viewport.area.value.width === 0) return;
    done.current = true;
    const shared = sharedViewOf(location.search);
    if (!shared) {
      viewport.fit(project.extent());
      return;
    }
    viewport.lookAt(shared.centre, shared.scale);
    untracked(() => {
      project.selection.set(shared.ids);
      project.selection.forgetMissing();
    });
  });
}

/**
 * Scrolls a single selected item into view, unless the pointer selected it: it was visible, and must not move under the pointer.
 * Keeps it visible when panels open or the window shrinks.
 */
export function useSelectionInSight(project: ProjectState): void {
  const { viewport, tools } = useApp();
  const last = useRef({ id: '', seen: viewport.seen.peek() });
  useSignalEffect(() => {
    const [id = '', ...others] = project.selection.ids.value;
    const seen = viewport.seen.value;
    const before = last.current;
    const box = others.length === 0 ? boxOf(project, id) : undefined;
    last.current = { id: box ? id : '', seen };
    if (!box || tools.pressing.peek() || tools.menu.peek()) return;
    const wasSeen = id === before.id && viewport.shows(box, before.seen);
    if ((id !== before.id || wasSeen) && !viewport.shows(box)) viewport.show(box);
  });
}

/** Whether all of a box is in a part of the canvas. */
function holds(viewport: App['viewport'], box: Box, part: Box): boolean {
  const { scale } = viewport.state.peek();
  const { x, y } = viewport.toCanvas(box);
  const fits = (place: number, size: number, room: number) => place >= 0 && place + size * scale <= room;
  return fits(x - part.x, box.width, part.width) && fits(y - part.y, box.height, part.height);
}

/**
 * Keeps all of the project visible when a dock or panel takes room from the canvas, if all of it was visible before; gives the view
 * back when the room is, unless the user has moved it meanwhile.
 */
export function useProjectInSight(project: ProjectState): void {
  const { viewport, tools } = useApp();
  const last = useRef({ seen: viewport.seen.peek(), own: viewport.state.peek(), fitted: viewport.state.peek() });
  useSignalEffect(() => {
    const seen = viewport.seen.value;
    const { seen: before, own, fitted } = last.current;
    const state = viewport.state.peek();
    const isOwn = state !== fitted;
    last.current = { seen, own: isOwn ? state : own, fitted: isOwn ? state : fitted };
    if (tools.pressing.peek() || project.phase.peek() !== 'opened' || before.width === 0) return;
    const extent = untracked(() => project.extent());
    if (!extent || !holds(viewport, extent, before)) return;
    if (!isOwn) viewport.state.value = own;
    if (!holds(viewport, extent, seen)) viewport.show(extent);
    if (!holds(viewport, extent, seen)) viewport.fit(extent);
    last.current = { ...last.current, fitted: viewport.state.peek() };
  });
}

/**
 * Returns the box of an item; for a link, of the part between its nodes. Inside a signal it re-runs when a missing item arrives.
 */
function boxOf(project: ProjectState, id: string): Box | undefined {
  const item = project.findItem(id);
  if (item) return project.boxOf(item);
  const link = project.links.peek(id);
  if (link) return around(link.nodes.flatMap(({ node_id }) => project.nodes.peek(node_id) ?? []).map(nodeBox));
  if (id !== '') for (const list of [project.nodes, project.links, project.drawings]) void list.ids.value;
  return undefined;
}
