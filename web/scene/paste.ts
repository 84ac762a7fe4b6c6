/** Pastes copied items into a project. */
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Point } from '../geometry/geometry.ts';
import { around, centreOf, snapped } from '../geometry/geometry.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { bulkOf, type Clip } from './clip.ts';

/** Offset from the original, or from the previous paste. */
const offsetPx = 40;

/** Within a project, nodes are duplicated with their disks while the originals exist. @throws ApiError */
export async function paste(app: App, project: ProjectState, clip: Clip): Promise<void> {
  const isHome = clip.project_id === project.id && clip.nodes.every(({ node_id }) => project.nodes.peek(node_id));
  if (isHome) await duplicate(app, project, clip);
  else await createAnew(app, project, clip);
}

/** @throws ApiError the first refusal, after all other items were created */
export async function duplicate({ api }: App, project: ProjectState, clip: Clip): Promise<void> {
  const select = project.selection.whenMade();
  const copies = new Map<string, Node>();
  const drawn: string[] = [];
  const aside = ({ x, y }: Point) => ({ x: x + offsetPx, y: y + offsetPx });
  const made = await Promise.allSettled([
    ...clip.nodes.map(async (node) => {
      const place = { ...aside(node), z: node.z };
      copies.set(node.node_id, await api.post<Node>(`${project.path}/nodes/${node.node_id}/duplicate`, place));
    }),
    ...clip.drawings.map(async (drawing) => {
      const body = { ...drawing, ...aside(drawing) };
      drawn.push((await api.post<Drawing>(`${project.path}/drawings`, body)).drawing_id);
    }),
  ]);
  const links = clip.links.filter(({ nodes }) => nodes.every(({ node_id }) => copies.has(node_id)));
  const linked = await Promise.allSettled(
    links.map(({ nodes, ...link }) => {
      const ends = nodes.map((end) => ({ ...end, node_id: copies.get(end.node_id)?.node_id }));
      return api.post(`${project.path}/links`, { ...link, nodes: ends });
    }),
  );
  select([...[...copies.values()].map(({ node_id }) => node_id), ...drawn]);
  const refused = [...made, ...linked].find((answer) => answer.status === 'rejected');
  if (refused) throw refused.reason;
}

/** Pastes all items or none, in the centre of the view. Reports items that were left out. */
async function createAnew(app: App, project: ProjectState, clip: Clip): Promise<void> {
  const select = project.selection.whenMade();
  const bulk = bulkOf(clip, shiftOf(app, project, clip), (id) => app.server.computes.peek(id) !== undefined);
  const made = await app.api.post<{ nodes: Node[]; drawings: Drawing[] }>(`${project.path}/bulk`, bulk);
  select([...made.nodes.map(({ node_id }) => node_id), ...made.drawings.map(({ drawing_id }) => drawing_id)]);
  const withDisks = clip.nodes.filter(({ node_type }) => app.server.kinds.peek().get(node_type)?.always_running !== true);
  const what = texts.selected(clip.nodes.length, clip.links.length, clip.drawings.length);
  app.toasts.show('info', texts.pasted(what, { withDisks: withDisks.length, links: clip.links_left_out }));
}

/** Moves the copies to the centre of the view, or to the next free place. */
function shiftOf(app: App, project: ProjectState, { nodes, drawings }: Clip): Point {
  const boxes = [
    ...nodes.map(({ x, y, width, height }) => ({ x, y, width, height })),
    ...drawings.map(({ svg, x, y }) => ({ x, y, ...sizeOf(project, svg) })),
  ];
  const extent = around(boxes);
  const [first] = boxes;
  if (!extent || !first) return { x: 0, y: 0 };
  const [from, to] = [centreOf(extent), app.viewport.centre()];
  const settings = project.project.peek();
  const corner = { x: first.x + to.x - from.x, y: first.y + to.y - from.y };
  const place = snapped(corner, first, settings?.snap_to_grid ? settings.grid_size : 1);
  const taken = new Set(project.items().map(({ object: { x, y } }) => `${x} ${y}`));
  let aside = 0;
  while (taken.has(`${place.x + aside} ${place.y + aside}`)) aside += offsetPx;
  return { x: place.x + aside - first.x, y: place.y + aside - first.y };
}

function sizeOf(project: ProjectState, svg: string) {
  const { width, height } = project.pictures.of(svg);
  return { width, height };
}
