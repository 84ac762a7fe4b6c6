/** Announces what the restore of a snapshot removed: clients that show a project do not read it again. */
import type { LiveProject } from './live-project.ts';

type Part = 'node' | 'link' | 'drawing';
/** Objects of the API by their ids. */
type TopologyObjects = Readonly<Record<Part, ReadonlyMap<string, object>>>;

/** Returns the current objects of the project. */
export function partsOf(live: LiveProject): TopologyObjects {
  return {
    node: new Map(live.nodes.list().map((node) => [node.node_id, node])),
    link: new Map(live.links.list().map((link) => [link.link_id, link])),
    drawing: new Map(live.drawings.list().map((drawing) => [drawing.drawing_id, drawing])),
  };
}

/** Announces removed objects after the opening, which announced all that exist. Links go before their nodes. */
export function announceRemoved(live: LiveProject, before: TopologyObjects): void {
  const after = partsOf(live);
  for (const part of ['link', 'node', 'drawing'] as const) {
    for (const [id, object] of before[part]) if (!after[part].has(id)) live.notify(`${part}.deleted`, object);
  }
}
