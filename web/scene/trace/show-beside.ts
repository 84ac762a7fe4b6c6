/** Moves the view, where the list of hops covers nodes of the way, so that it shows all of them beside the list. */
import type { PacketTrace } from '../../../src/schema/frame-trace.ts';
import { around, type Box, centreOf, nodeBox, overlaps } from '../../geometry/geometry.ts';
import { scaleLimits } from '../../geometry/viewport.ts';
import type { App } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';

const marginPx = 40;

export function showBeside({ viewport }: App, { nodes }: ProjectState, { ways }: PacketTrace, list: HTMLElement): void {
  const ids = new Set(ways.flatMap(({ hops }) => hops.flatMap(({ from_node_id, to_node_id }) => [from_node_id, to_node_id])));
  const boxes = [...ids].flatMap((id) => nodes.find(id) ?? []).map((node) => nodeBox(node));
  const all = around(boxes);
  const { left, top } = viewport.area.peek();
  const { x, y, right, bottom } = list.getBoundingClientRect();
  const from = viewport.toScene(x, y);
  const to = viewport.toScene(right, bottom);
  const covered: Box = { x: from.x, y: from.y, width: to.x - from.x, height: to.y - from.y };
  if (!all || !boxes.some((box) => overlaps(box, covered))) return;
  const seen = viewport.seen.peek();
  const [listRight, listBottom] = [right - left, bottom - top];
  const beside: Box = { ...seen, x: listRight, width: seen.x + seen.width - listRight };
  const below: Box = { ...seen, y: listBottom, height: seen.y + seen.height - listBottom };
  const free = beside.width * beside.height >= below.width * below.height ? beside : below;
  const room = (size: number) => Math.max(1, size - 2 * marginPx);
  const fitting = Math.min(viewport.state.peek().scale, room(free.width) / all.width, room(free.height) / all.height);
  const scale = Math.max(scaleLimits.lowest, fitting);
  const [middle, centre] = [centreOf(free), centreOf(all)];
  viewport.state.value = { x: middle.x - centre.x * scale, y: middle.y - centre.y * scale, scale };
}
