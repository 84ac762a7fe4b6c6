/** Connects a link to other ports, all or nothing, as one record of the log and one step of undo. */
import { fault } from '../../api/faults.ts';
import type { LinkEnd } from '../../schema/link.ts';
import { invertChange } from '../log/actions/actions.ts';
import type { ProjectChange } from '../log/records.ts';
import type { LinkEntry } from '../model/topology.ts';
import { isSamePort, type LinkObject, portsToJoin, requireFilter, type Two, twoEnds } from './links/link.ts';
import { requireMirror } from './links/link-mirrors.ts';
import { requireSchedules } from './links/link-operations.ts';
import { reportLink } from './links/link-recovery.ts';
import type { LiveProject } from './live-project.ts';

/**
 * No other change is under way. The link keeps its id, filters, schedule, style, mirror and captures; frames under way are lost, as when a
 * cable is unplugged. Listeners receive `link.deleted` and `link.created`: GNS3's clients do not expect that a link moves.
 * @throws `link_not_found`, `link_ends`, `port_taken` and the other refusals of new links; the link is as before then
 */
export async function rewireLink(project: LiveProject, linkId: string, given: readonly LinkEnd[]): Promise<LinkObject> {
  const { entry } = project.links.open(linkId);
  const ends = twoEnds(given);
  const present = entry.nodes as readonly LinkEnd[];
  if (ends.every((end, place) => isSamePort(end, present[place] as LinkEnd)))
    return project.linkOperations.update(linkId, { nodes: [...ends] });
  const labelOf = (end: LinkEnd) => end.label ?? present.find((other) => isSamePort(other, end))?.label;
  const nodes = ends.map(({ label: _label, ...end }, place) => {
    const label = labelOf(ends[place as 0 | 1]);
    return { ...end, ...(label && { label }) };
  });
  const after: LinkEntry = { ...entry, nodes };
  requireJoinable(project, entry, after, ends);
  const move = async () => {
    await project.linkOperations.delete(linkId);
    await project.linkOperations.create({ ...after, nodes }, linkId);
  };
  const revert = (change: ProjectChange) => invertChange(project, change, { isKept: true });
  await project.captures
    .keepDuring([linkId], () => project.changes.together(move, revert))
    .catch((error: unknown) => {
      // Listeners have seen the link go and come back, which ends a failure that was reported before.
      reportLink(project, after, error);
      throw error;
    });
  return project.links.get(linkId);
}

/** Refused before anything changes. */
function requireJoinable(project: LiveProject, before: LinkEntry, after: LinkEntry, ends: Two<LinkEnd>): void {
  const nodes = [project.nodes.get(ends[0].node_id), project.nodes.get(ends[1].node_id)] as const;
  portsToJoin(ends, nodes);
  for (const [place, end] of ends.entries()) {
    if (!project.links.isTaken(end) || before.nodes.some((own) => isSamePort(own, end))) continue;
    const { adapter_number, port_number } = end;
    throw fault('port_taken', { adapter_number, port_number, name: nodes[place as 0 | 1].entry.name });
  }
  requireFilter(after, nodes);
  const { mirror, schedule } = after;
  if (schedule) requireSchedules({ entry: after, nodes });
  if (mirror) requireMirror(after, nodes, { mirror, node: project.nodes.get(mirror.node_id) });
}
