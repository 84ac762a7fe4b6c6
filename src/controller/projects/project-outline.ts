/** A project as a small picture, also of a closed one: its file is read then. */
import { outlineLimit, type ProjectOutline } from '../../schema/outline.ts';
import { topologyOf } from '../log/project-state.ts';
import type { KnownProject } from './project.ts';

/** @throws project_damaged */
export async function outlineOf(project: KnownProject): Promise<ProjectOutline> {
  const live = await project.findLive();
  const { nodes, links } = live ? live.topology() : topologyOf(await project.stored());
  const shown = nodes.slice(0, outlineLimit.points);
  const places = new Map(shown.map(({ node_id }, place) => [node_id, place]));
  const lines: { from: number; to: number }[] = [];
  for (const { nodes: ends } of links) {
    if (lines.length >= outlineLimit.lines) break;
    const [from, to] = ends.map(({ node_id }) => places.get(node_id));
    if (from !== undefined && to !== undefined) lines.push({ from, to });
  }
  return { nodes: nodes.length, links: links.length, points: shown.map(({ x, y }) => ({ x, y })), lines };
}
