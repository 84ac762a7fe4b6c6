/**
 * Rules by which frames of a VLAN pass from one port of a switch to another. IEEE 802.1Q with GNS3's names of the ports:
 *
 * - access: one VLAN; what comes in is of that VLAN whatever it carries, what leaves has no tag of ours.
 * - dot1q: a trunk; a tag says the VLAN, none means the native VLAN, and frames of that one leave without.
 * - qinq: the customer's side of a tunnel; takes and gives tagged frames only, which carry the tunnel's tag outside theirs on a trunk.
 *
 * A priority tag (VLAN 0) gives a priority and no VLAN: such a frame is treated as one without a tag (IEEE 802.1Q §6.9). Where one leaves
 * with a tag, the priority tag becomes it and keeps its priority; elsewhere the frame keeps its priority tag.
 */
import type { EthernetSettings } from '../protocol.ts';

const dot1qTag = 0x8100;

/** Types of a tag that is understood on the way in. Sources: IEEE 802.1Q §9.5, 802.1ad; the other two are older habits of vendors. */
export function isTagType(type: number): boolean {
  return type === dot1qTag || type === 0x88a8 || type === 0x9100 || type === 0x9200;
}

/** A frame as the port sees it through which it came in. */
export interface Arrival {
  readonly vlan: number;
  /** The frame's outermost tag is a priority tag, which does not count as a tag. */
  readonly hasPriority: boolean;
  /** The frame's outermost tag says the VLAN. */
  readonly isTagged: boolean;
  readonly from: EthernetSettings;
}

/** Actions for the frame's outermost tag; every other number is a tag to be put in, type and VLAN. */
export const keepOut = -1;
export const asItIs = 0;
export const untag = 1;
/** The frame's VLAN is written into its priority tag. */
export const retag = 2;

/** VLAN of a frame that comes in at a port; 0, which no VLAN is, when it is not let in. `tag`: of its tag, if it has one. */
export function vlanOf(from: EthernetSettings, tag: number | undefined): number {
  if (from.mode === 'access') return from.vlan;
  if (from.mode === 'dot1q') return tag || from.vlan;
  return tag === undefined ? 0 : from.vlan;
}

export function passage({ vlan, isTagged, hasPriority, from }: Arrival, to: EthernetSettings): number {
  const isCustomer = from.mode === 'qinq';
  if (to.mode === 'dot1q') {
    if (isCustomer) return tagOf(from.tagType, vlan);
    if (to.vlan === vlan) return isTagged ? untag : asItIs;
    if (isTagged) return asItIs;
    return hasPriority ? retag : tagOf(dot1qTag, vlan);
  }
  if (to.vlan !== vlan) return keepOut;
  if (to.mode === 'access') return isCustomer ? keepOut : isTagged ? untag : asItIs;
  if (isCustomer) return asItIs;
  return isTagged ? untag : keepOut;
}

function tagOf(type: number, vlan: number): number {
  return type * 0x10000 + vlan;
}
