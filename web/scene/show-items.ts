/** Shows nodes and links: selects them and brings them into the middle of the view. */
import { around, centreOf, nodeBox } from '../geometry/geometry.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';

export function showItems({ viewport }: App, project: ProjectState, ids: readonly string[]): void {
  project.selection.set(ids);
  const ofLink = (id: string) => project.links.peek(id)?.nodes.map(({ node_id }) => node_id) ?? [id];
  const box = around(
    ids
      .flatMap(ofLink)
      .flatMap((id) => project.nodes.peek(id) ?? [])
      .map(nodeBox),
  );
  if (box) viewport.centreOn(centreOf(box));
}
