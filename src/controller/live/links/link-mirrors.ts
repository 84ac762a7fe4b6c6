/** The mirror of a link: a port of another node that is sent its frames as well (SPAN). */
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../../api/faults.ts';
import type { LinkMirror } from '../../../schema/link.ts';
import { canonical } from '../../model/canonical.ts';
import { kindOf } from '../../model/node.ts';
import { type LinkEntry, withoutExtras } from '../../model/topology.ts';
import type { ProjectContext } from '../host/project-context.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import type { LinkParts } from './delete-links.ts';
import type { LinkObject, OpenLink, Two } from './link.ts';
import type { LinkSet } from './link-set.ts';
import { mirroringEnd } from './link-wiring.ts';

/** Whether frames of the link may be mirrored to this port. @throws the refusal */
export function requireMirror(entry: LinkEntry, nodes: Two<OpenNode>, to: { mirror: LinkMirror; node: OpenNode }): void {
  const { mirror, node } = to;
  const { adapter_number, port_number } = mirror;
  const { name } = node.entry;
  const kind = kindOf(node.entry.node_type);
  if (!kind.can.mirror) throw fault('mirror_node', { name, kind: kind.title });
  const port = node.findPort(adapter_number, port_number);
  if (!port) throw fault('port_not_found', { adapter_number, port_number, name });
  const [end] = entry.nodes;
  const type = end && nodes[0].findPort(end.adapter_number, end.port_number)?.link_type;
  if (port.link_type !== 'ethernet' || type !== 'ethernet') throw fault('mirror_port', { adapter_number, port_number, name });
  mirroringEnd(entry, nodes, node);
}

/** Replaces the mirror of a link, or removes it; the link's lock is held. @throws the refusal, and all is as before */
export async function changeMirror(
  context: ProjectContext,
  { links, wiring, recovery }: LinkParts,
  link: OpenLink,
  to: { mirror: LinkMirror; node: OpenNode } | undefined,
): Promise<LinkObject> {
  const { entry, nodes, udpPorts } = link;
  const after = withMirror(entry, to?.mirror);
  if (isDeepStrictEqual(entry, after)) return link.object;
  const isSamePort = entry.mirror && to && isDeepStrictEqual(entry.mirror, to.mirror);
  if (to) requireMirror(entry, nodes, to);
  if (to && !isSamePort) links.ports.occupyMirror(entry.link_id, to.mirror, () => to.node.entry.name);
  try {
    await wiring.unmirror(entry, nodes, udpPorts);
    if (udpPorts) await wiring.mirror(after, nodes, udpPorts);
    return await commitMirror(context, links, link, to?.mirror);
  } catch (error) {
    if (to) links.ports.freeMirror(entry.link_id, to.mirror);
    await wiring.unmirror(after, nodes, udpPorts).catch(() => undefined);
    await recovery.revert(entry.link_id, 'all');
    throw error;
  }
}

/** Records it; the port that was mirrored to is free. @throws `storage_failed` */
export async function commitMirror(
  context: ProjectContext,
  links: LinkSet,
  link: OpenLink,
  mirror: LinkMirror | undefined,
): Promise<LinkObject> {
  const { entry, object } = link;
  const event = { ...object, mirror: mirror ?? null };
  const was = { ...withoutExtras(entry), mirror: entry.mirror ?? null };
  await context.commit({ action: 'link.updated', event, was, undoable: true }, () => {
    if (entry.mirror) links.ports.freeMirror(entry.link_id, entry.mirror);
    links.put({ ...links.open(entry.link_id), entry: withMirror(entry, mirror) });
    return object;
  });
  return object;
}

function withMirror({ mirror: _mirror, ...entry }: LinkEntry, mirror: LinkMirror | undefined): LinkEntry {
  return canonical<LinkEntry>({ ...entry, ...(mirror && { mirror }) });
}
