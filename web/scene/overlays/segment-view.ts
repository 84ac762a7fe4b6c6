/** The overlay of subnets and VLANs: each broadcast domain has a letter, a pattern and a name. */
import type { Link } from '../../../src/schema/link.ts';
import type { Node } from '../../../src/schema/node.ts';
import type { OverlayLook, OverlayMark } from '../../state/overlay.ts';
import type { ProjectState } from '../../state/project.ts';
import type { OverlayView } from './overlay-list.ts';
import { overlayTexts } from './overlay-texts.ts';
import { portsOf, type Segment, segmentsOf, subnetsOf } from './segments.ts';

const texts = overlayTexts.segments;
/** Looks of domains; more domains share them, and differ by their names. */
const looks: readonly OverlayLook[] = [1, 2, 3, 4, 5];
const trunkLook: OverlayLook = 6;
/** The legend has room for so many. */
const mostRows = 12;

/** `addressesOf`: of nodes that were asked, with prefixes. */
export function segmentView(project: ProjectState, addressesOf: ReadonlyMap<string, readonly string[]>): OverlayView {
  const segments = namedSegments(project.nodes.all.value, project.links.all.value, addressesOf);
  const marks = new Map<string, OverlayMark>();
  const trunks = new Map<string, number[]>();
  for (const { segment, name, look } of segments)
    for (const link of segment.links) {
      trunks.set(link, [...(trunks.get(link) ?? []), ...segment.vlans]);
      marks.set(link, marks.has(link) ? { text: '', look: trunkLook } : { text: name, look });
    }
  const links = new Map(
    Array.from(marks, ([id, mark]) => {
      const vlans = [...new Set(trunks.get(id))].sort((one, other) => one - other);
      return [id, mark.look === trunkLook ? { text: texts.trunkOf(vlans), look: trunkLook } : mark] as const;
    }),
  );
  const hasTrunk = [...links.values()].some(({ look }) => look === trunkLook);
  const shown = segments.slice(0, mostRows);
  const legend = [
    ...shown.map(({ name, look, rest }) => ({ look, text: rest === '' ? name : `${name} · ${rest}` })),
    ...(hasTrunk ? [{ look: trunkLook, text: texts.trunk }] : []),
    ...(segments.length > mostRows ? [{ look: 0 as const, text: texts.more(segments.length - mostRows) }] : []),
  ];
  return { links, nodes: new Map(), legend };
}

interface NamedSegment {
  readonly segment: Segment;
  /** Name on links: the VLAN, else the subnet, else a letter. */
  readonly name: string;
  /** The subnets beside a VLAN. */
  readonly rest: string;
  readonly look: OverlayLook;
}

function namedSegments(
  nodes: readonly Node[],
  links: readonly Link[],
  addressesOf: ReadonlyMap<string, readonly string[]>,
): NamedSegment[] {
  const segments = segmentsOf(
    nodes.map(({ node_id, properties }) => ({ id: node_id, ports: portsOf(properties) })),
    links.flatMap(({ link_id, nodes: [one, other] }) =>
      one && other
        ? [{ id: link_id, ends: [one, other].map(({ node_id, port_number }) => ({ node: node_id, port: port_number })) as never }]
        : [],
    ),
  );
  // A trunk alone, whose untagged VLAN no one uses, is no segment worth a row.
  const isUsed = ({ hosts, links: carried }: Segment) =>
    hosts.length > 0 || !segments.some((other) => other.hosts.length > 0 && carried.every((id) => other.links.includes(id)));
  return segments.filter(isUsed).map((segment, place) => {
    const subnets = subnetsOf(segment.hosts.flatMap((host) => addressesOf.get(host) ?? [])).join(', ');
    const vlans = segment.vlans.length > 0 ? texts.vlans(segment.vlans) : '';
    const letter = texts.segment(letterOf(place));
    return {
      segment,
      name: vlans || subnets || letter,
      rest: vlans === '' ? '' : subnets,
      look: looks[place % looks.length] ?? 1,
    };
  });
}

/** A, B … Z, A1, B1 …. */
function letterOf(place: number): string {
  const round = Math.floor(place / 26);
  return String.fromCharCode(65 + (place % 26)) + (round === 0 ? '' : round);
}
