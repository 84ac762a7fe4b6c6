/** Creates a node from a template. */
import type { Node } from '../../src/schema/node.ts';
import type { Point } from '../geometry/geometry.ts';
import { overlaps, snapped } from '../geometry/geometry.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { until } from '../state/until.ts';

/** Size of most symbols: the position is chosen before the symbol is known. */
const usual = { width: 65, height: 59 };
/** Room for two port labels between neighbours, and for a name above each. */
const step = { x: 160, y: 130 };
const mostSteps = 12;
const numbers = Array.from({ length: 2 * mostSteps + 1 }, (_, place) => mostSteps - place);
/** Candidates around the centre, the nearest first; rows are staggered like bricks, so that few links run behind a third node. */
const places: readonly Point[] = numbers
  .flatMap((row) => numbers.map((column) => ({ x: (column + (row % 2 === 0 ? 0 : 0.5)) * step.x, y: row * step.y })))
  .toSorted((one, other) => Math.hypot(one.x, one.y) - Math.hypot(other.x, other.y));

/**
 * Centred on a point of the window; without one, in a free place of the visible canvas. A request made before the project is loaded
 * waits for it: free places and the visible part are known only then.
 */
export async function addNode(app: App, project: ProjectState, templateId: string, at?: Point): Promise<void> {
  await until(() => project.phase.value !== 'loading');
  const template = app.server.templates.peek(templateId);
  const compute_id = template?.compute_id ?? 'local';
  const middle = at ? app.viewport.toScene(at.x, at.y) : freePlace(app, project);
  const settings = project.project.peek();
  const corner = { x: middle.x - usual.width / 2, y: middle.y - usual.height / 2 };
  const { x, y } = snapped(corner, usual, settings?.snap_to_grid ? settings.grid_size : 1);
  const select = project.selection.whenMade();
  await app.toasts.attempt(async () => {
    const node = await app.api.post<Node>(`${project.path}/templates/${templateId}`, { x, y, compute_id });
    select([node.node_id]);
  });
}

/** The free place nearest to the centre. */
function freePlace(app: App, project: ProjectState): Point {
  const centre = app.viewport.centre();
  const boxes = project.nodes.all.peek().map((node) => ({ x: node.x, y: node.y, width: node.width, height: node.height + 24 }));
  for (const { x, y } of places) {
    const place = { x: centre.x + x, y: centre.y + y };
    const box = { x: place.x - usual.width / 2, y: place.y - usual.height / 2, ...usual };
    if (!boxes.some((other) => overlaps(other, box))) return place;
  }
  return centre;
}
