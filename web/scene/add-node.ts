/** Makes a node of a template. */
import type { Node } from '../../src/schema/node.ts';
import type { App } from '../state/app.ts';
import type { Point, ProjectState } from '../state/project.ts';
import { until } from '../state/until.ts';
import { overlaps, snapped } from './geometry.ts';

/** Of most symbols: where the node is put is decided before its symbol is known. */
const usual = { width: 65, height: 59 };
const stepPx = 110;

/**
 * At a place of the window, where its middle comes to be; without one, where there is room in what is seen. What was asked for before the
 * project was read waits for that: only then it is known what stands where, and which part is seen.
 */
export async function addNode(app: App, project: ProjectState, templateId: string, at?: Point): Promise<void> {
  await until(() => project.phase.value !== 'loading');
  const template = app.server.templates.peek(templateId);
  const compute_id = template?.compute_id ?? 'local';
  const middle = at ? app.viewport.toScene(at.x, at.y) : freePlace(app, project);
  const settings = project.project.peek();
  const corner = { x: middle.x - usual.width / 2, y: middle.y - usual.height / 2 };
  const { x, y } = snapped(corner, usual, settings?.snap_to_grid ? settings.grid_size : 1);
  await app.toasts.attempt(async () => {
    const node = await app.api.post<Node>(`${project.path}/templates/${templateId}`, { x, y, compute_id });
    project.selection.set([node.node_id]);
  });
}

/** From the centre outwards, in rows. */
function freePlace(app: App, project: ProjectState): Point {
  const centre = app.viewport.centre();
  const boxes = project.nodes.all.peek().map((node) => ({ x: node.x, y: node.y, width: node.width, height: node.height + 24 }));
  for (let ring = 0; ring < 12; ring += 1) {
    for (const [column, row] of ringOf(ring)) {
      const place = { x: centre.x + column * stepPx, y: centre.y + row * stepPx };
      const box = { x: place.x - usual.width / 2, y: place.y - usual.height / 2, ...usual };
      if (!boxes.some((other) => overlaps(other, box))) return place;
    }
  }
  return centre;
}

function* ringOf(ring: number): Generator<[number, number]> {
  for (let row = -ring; row <= ring; row += 1)
    for (let column = -ring; column <= ring; column += 1)
      if (Math.max(Math.abs(row), Math.abs(column)) === ring) yield [column, row];
}
