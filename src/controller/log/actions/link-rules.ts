/** Records of links. */
import type { LinkEnd, LinkInput } from '../../../schema/link.ts';
import { Type } from '../../../schema/type.ts';
import { StoredLink } from '../../model/stored.ts';
import { type LinkEntry, type LinkExtras, toLinkEntry, withoutExtras } from '../../model/topology.ts';
import type { StoredLink as LinkEvent, StoredLinkEntry, UdpPorts } from '../records.ts';
import { type ActionRules, differing, isAsLeft, type StoredState } from './action-rules.ts';

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
const portOf = ({ node_id, adapter_number, port_number }: LinkEnd) => `${node_id}/${adapter_number}/${port_number}`;
/** A schedule that continues after a rewind is the same, although it began later. */
const withAnyStart = <L extends { readonly schedule?: object | null }>(link: L): L =>
  link.schedule ? { ...link, schedule: { ...link.schedule, started_at: 0 } } : link;
const missing = 'the link does not exist any more';

export const linkRules: { [A in LinkAction]: ActionRules<A> } = {
  'link.created': {
    schema: { event: StoredLink, was: Type.Null() },
    apply: put,
    conflict: ({ project, expect, willExist }, { event }) => {
      const link = project.links.find(event.link_id);
      const hasNode = ({ node_id }: LinkEnd) => willExist(node_id) ?? project.nodes.find(node_id) !== undefined;
      // An undo of its node that began before the link was there took it along: nothing is left to revert.
      if (!link) return event.nodes.every(hasNode) ? missing : undefined;
      expect(event.link_id, false);
      for (const end of link.entry.nodes) expect(portOf(end), false);
      return undefined;
    },
    // The node may have taken it along.
    invert: async ({ links, linkOperations }, { event }) => links.find(event.link_id) && linkOperations.delete(event.link_id),
    notice: (_source, { event }) => objectOf(event),
  },
  'link.updated': {
    schema: { event: StoredLink, was: StoredLink },
    apply: put,
    conflict: ({ project, isSeen, willExist }, { event, was }) => {
      const link = project.links.find(event.link_id);
      if (!link) return missing;
      const { mirror } = differing(was, event);
      if (mirror && !(willExist(mirror.node_id) ?? project.nodes.find(mirror.node_id) !== undefined))
        return 'the node to which the link was mirrored does not exist any more';
      if (mirror && project.links.isTaken(mirror)) return 'the port to which the link was mirrored is used by another link';
      return isSeen(event.link_id) ||
        isAsLeft(withAnyStart({ ...noExtras, ...link.entry }), withAnyStart(event), differing(was, event))
        ? undefined
        : 'the link was changed since';
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
    conflict: ({ project: { links, nodes }, willExist, expect }, { event }) => {
      if (willExist(event.link_id) ?? links.find(event.link_id) !== undefined) return 'the link exists again';
      for (const end of event.nodes) {
        const node = nodes.find(end.node_id);
        if (!(willExist(end.node_id) ?? node !== undefined)) return 'a node of the link does not exist any more';
        if (willExist(portOf(end)) ?? links.isTaken(end))
          return `port ${end.adapter_number}/${end.port_number} of ${node?.entry.name} is used by another link`;
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
