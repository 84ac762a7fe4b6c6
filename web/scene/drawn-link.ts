/** The line of a link as the canvas draws it: between nodes, or the collapsed groups that hide them, where these are dragged. */
import type { ProjectState } from '../state/project.ts';
import { symbolBox } from '../ui/device-symbol.tsx';
import { type LinkEnd, type LinkPath, linkEnd, linkPath } from './link-path.ts';

export interface DrawnLink {
  readonly path: LinkPath;
  readonly ends: readonly [LinkEnd, LinkEnd];
}

/** Undefined: a node is missing, or one group hides both. Inside a signal it runs again when the line changes. */
export function drawnLink(project: ProjectState, id: string, isFlat: boolean): DrawnLink | undefined {
  const [a, b] = project.links.find(id)?.nodes ?? [];
  const one = a && drawnEnd(project, a.node_id, isFlat);
  const other = b && drawnEnd(project, b.node_id, isFlat);
  if (!one || !other || (one.id === other.id && one.id !== a.node_id)) return undefined;
  const ends = [one, other] as const;
  return { ends, path: linkPath(ends, project.drawn.bulges.value.get(id)) };
}

function drawnEnd({ nodes, groups, drawn }: ProjectState, id: string, isFlat: boolean): LinkEnd | undefined {
  const node = nodes.find(id);
  if (!node) return undefined;
  const group = groups.hidden.value.get(id);
  return linkEnd(drawn.dragged.placed(id, node), symbolBox(node, isFlat), group && { ...group, box: groups.drawnBox(group) });
}
