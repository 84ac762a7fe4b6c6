/** Arranges the selected nodes, or all, by a layout. One step of undo. */
import type { Node } from '../../../src/schema/node.ts';
import { around, centreOf, nodeBox, snapped } from '../../geometry/geometry.ts';
import type { App } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';
import { type SymbolRole, shapeOf } from '../../ui/symbol-shapes.ts';
import { moveItems } from '../move-items.ts';
import type { LayoutGraph, LayoutName, LayoutNode, Places } from './layouts.ts';

/** Locked nodes stay; the middle of the others does, too. @throws ApiError nothing has moved then */
export async function arrangeNodes({ server }: App, project: ProjectState, name: LayoutName): Promise<void> {
  const selected = project.selection.nodes.peek();
  const nodes = (selected.length > 1 ? selected : project.nodes.all.peek()).filter(({ locked }) => !locked);
  const box = around(nodes.map(nodeBox));
  if (!box || nodes.length < 2) return;
  const ids = new Set(nodes.map(({ node_id }) => node_id));
  const links = project.links.all.peek().flatMap(({ nodes: [one, other] }) => {
    const isInside = one && other && ids.has(one.node_id) && ids.has(other.node_id);
    return isInside ? [[one.node_id, other.node_id] as const] : [];
  });
  const places = await compute({ name, nodes: nodes.map((node) => layoutNode(node, server.symbolOf(node))), links });
  const boxes = nodes.map(({ node_id, width, height }) => {
    const { x, y } = places.get(node_id) ?? { x: 0, y: 0 };
    return { x: x - width / 2, y: y - height / 2, width, height };
  });
  const [before, after] = [centreOf(box), centreOf(around(boxes) ?? box)];
  const settings = project.project.peek();
  const gridPx = settings?.snap_to_grid ? (settings.grid_size ?? 1) : 1;
  await moveItems(
    project,
    nodes.map((node, place) => {
      const { x, y } = boxes[place] ?? node;
      const to = snapped({ x: x + before.x - after.x, y: y + before.y - after.y }, node, gridPx);
      return { id: node.node_id, from: node, to };
    }),
  );
}

/** Rows of a tree: uplinks above routers and firewalls, then switches, then everything else. */
const tiers: Partial<Record<SymbolRole, number>> = { outside: 0, router: 1, security: 1, switch: 2, wireless: 2 };
const lowestTier = 3;

function layoutNode({ node_id: id, width, height }: Node, symbol: string): LayoutNode {
  return { id, width, height, tier: tiers[shapeOf(symbol)?.role ?? 'host'] ?? lowestTier };
}

/** Loaded with the first layout. */
function compute(graph: LayoutGraph): Promise<Places> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  return new Promise<Places>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Places>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message || 'The layout could not be computed'));
    worker.postMessage(graph);
  }).finally(() => worker.terminate());
}
