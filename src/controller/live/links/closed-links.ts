/** The links of a closed project, whole as the API promises them: nothing captures, and what joins two ports follows from the stored nodes. */
import { mapInTurns } from '../../../lib/turns.ts';
import type { LinkEnd } from '../../../schema/link.ts';
import type { ProjectState } from '../../log/project-state.ts';
import { portsOf } from '../../model/node.ts';
import { type LinkEntry, withoutExtras } from '../../model/topology.ts';
import { type LinkObject, listed, noCapture } from './link.ts';

export function closedLinks(state: ProjectState): Promise<LinkObject[]> {
  const linkType = linkTypes(state);
  return mapInTurns(state.links.values(), (entry) =>
    listed({
      ...withoutExtras(entry),
      ...noCapture,
      link_type: linkType(entry),
      nodes: entry.nodes as LinkEnd[],
      project_id: state.project.project_id,
    }),
  );
}

/** Tells the type of a link; the ports of a node are worked out once. */
function linkTypes(state: ProjectState): (entry: LinkEntry) => LinkObject['link_type'] {
  const known = new Map<string, Map<string, LinkObject['link_type']>>();
  const typesOn = (nodeId: string) => {
    const node = state.nodes.get(nodeId);
    const types = known.get(nodeId) ?? new Map((node ? portsOf(node) : []).map((port) => [keyOf(port), port.link_type]));
    known.set(nodeId, types);
    return types;
  };
  return ({ nodes: [end] }) => (end && typesOn(end.node_id).get(keyOf(end))) ?? 'ethernet';
}

function keyOf({ adapter_number, port_number }: { adapter_number: number; port_number: number }): string {
  return `${adapter_number}/${port_number}`;
}
