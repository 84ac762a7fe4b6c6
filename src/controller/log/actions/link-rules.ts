/** Records of links. */
import type { LinkInput, LinkMirror } from '../../../schema/link.ts';
import { Type } from '../../../schema/type.ts';
import { StoredLink } from '../../model/stored.ts';
import { type LinkEntry, type LinkExtras, toLinkEntry, withoutExtras } from '../../model/topology.ts';
import type { StoredLink as LinkEvent, StoredLinkEntry, UdpPorts } from '../records.ts';
import { type ActionRules, differing, isAsLeft, type Outlook, type StoredState } from './action-rules.ts';

type LinkAction = 'link.created' | 'link.updated' | 'link.deleted';

function put({ links, udpPorts }: StoredState, { event, udp_ports }: { event: LinkEvent; udp_ports?: UdpPorts }): void {
  const { schedule, mirror } = links.get(event.link_id) ?? {};
  links.set(event.link_id, toLinkEntry({ ...(schedule && { schedule }), ...(mirror && { mirror }), ...event }) as LinkEntry);
  if (udp_ports) udpPorts.set(event.link_id, udp_ports);
}

/** Converts a stored link to a client's request. */
const inputOf = (entry: Partial<StoredLinkEntry>): LinkInput & LinkExtras => entry as LinkInput & LinkExtras;
/** Converts a stored link to the form that listeners receive. */
const objectOf = (event: LinkEvent): object => withoutExtras(event);
const noExtras: LinkExtras = { schedule: null, mirror: null };
/** The key under which an `Outlook` records whether a port will have a link. */
const portOf = ({ node_id, adapter_number, port_number }: LinkMirror) => `${node_id}/${adapter_number}/${port_number}`;
/** A schedule that continues after a rewind is the same, although it began later. */
const withAnyStart = <L extends { readonly schedule?: object | null }>(link: L): L =>
  link.schedule ? { ...link, schedule: { ...link.schedule, started_at: 0 } } : link;
const exists = ({ project, willExist }: Outlook, { link_id }: { readonly link_id: string }) =>
  willExist(link_id) ?? project.links.find(link_id) !== undefined;
const hasNode = ({ project, willExist }: Outlook, nodeId: string) => willExist(nodeId) ?? project.nodes.find(nodeId) !== undefined;
const missing = 'the link does not exist any more';

export const linkRules: { [A in LinkAction]: ActionRules<A> } = {
  'link.created': {
    schema: { event: StoredLink, was: Type.Null() },
    apply: put,
    conflict: (outlook, { event }) => {
      const { expect } = outlook;
      // An undo of its node that began before the link was there took it along: nothing is left to revert.
      if (!exists(outlook, event)) return event.nodes.every(({ node_id }) => hasNode(outlook, node_id)) ? missing : undefined;
      expect(event.link_id, false);
      for (const end of event.nodes) expect(portOf(end), false);
      return undefined;
    },
    // The node may have taken it along.
    invert: async ({ links, linkOperations }, { event }) => links.find(event.link_id) && linkOperations.delete(event.link_id),
    notice: (_source, { event }) => objectOf(event),
  },
  'link.updated': {
    schema: { event: StoredLink, was: StoredLink },
    apply: put,
    conflict: (outlook, { event, was }) => {
      const { project, expect, isSeen, willExist } = outlook;
      if (!exists(outlook, event)) return missing;
      const link = project.links.find(event.link_id);
      const { mirror } = differing(was, event);
      if (mirror && !hasNode(outlook, mirror.node_id)) return 'the node to which the link was mirrored does not exist any more';
      if (mirror && (willExist(portOf(mirror)) ?? project.links.isTaken(mirror)))
        return 'the port to which the link was mirrored is used by another link';
      const isAlike =
        isSeen(event.link_id) ||
        !link ||
        isAsLeft(withAnyStart({ ...noExtras, ...link.entry }), withAnyStart(event), differing(was, event));
      if (!isAlike) return 'the link was changed since';
      if (event.mirror && mirror !== undefined) expect(portOf(event.mirror), false);
      if (mirror) expect(portOf(mirror), true);
      return undefined;
    },
    invert: ({ linkOperations }, { event, was }) => linkOperations.update(event.link_id, inputOf(differing(was, event))),
    // A change with ports moves the link's frames to other addresses, which listeners are not sent.
    notice: (_source, { event, udp_ports }) => (udp_ports ? undefined : objectOf(event)),
  },
  'link.deleted': {
    schema: { event: StoredLink, was: StoredLink },
    apply: ({ links, udpPorts }, { event }) => {
      links.delete(event.link_id);
      udpPorts.delete(event.link_id);
    },
    conflict: (outlook, { event }) => {
      const { project, willExist, expect } = outlook;
      if (exists(outlook, event)) return 'the link exists again';
      for (const end of event.nodes) {
        if (!hasNode(outlook, end.node_id)) return 'a node of the link does not exist any more';
        const name = project.nodes.find(end.node_id)?.entry.name;
        if (willExist(portOf(end)) ?? project.links.isTaken(end))
          return `port ${end.adapter_number}/${end.port_number} of ${name} is used by another link`;
      }
      expect(event.link_id, true);
      for (const end of event.nodes) expect(portOf(end), true);
      return undefined;
    },
    // A link that was not connected, as a compute refused it, is restored as it was.
    invert: ({ linkOperations }, { was, udp_ports }, how) =>
      linkOperations.create(inputOf(was), was.link_id, { isKept: how?.isKept || udp_ports === undefined }),
    notice: (_source, { event }) => event,
  },
};
