/**
 * The ways of packets, made of the frames that were noted at links.
 *
 * A *pass* is a frame on one direction of a link: it came in, and came out or was lost. A frame that leaves a node was the one that
 * arrived there last before, so a way is followed from its end back to where it began: that holds for floods of a switch, of which only
 * one branch arrives, and for a router that sends a packet back over the switch from which it came. Frames are compared by
 * `TracedPacket.key`, which does not change on the way. Nothing here does I/O.
 */
import type { PacketHop, PacketWay } from '../../../schema/frame-trace.ts';
import { addressText, type TracedPacket } from '../../model/traced-packet.ts';

/** A frame at a point of a link. */
export interface Sighting {
  readonly linkId: string;
  readonly fromNode: string;
  readonly toNode: string;
  /** Places between which the traced part of the link lies: nodes, `outside` for all uplinks, or the middle of a link between computes. */
  readonly from: string;
  readonly to: string;
  /** `in`, `out`, or why the link lost it. */
  readonly point: string;
  readonly atMs: number;
  readonly packet: TracedPacket;
}

interface Pass extends Omit<Sighting, 'point' | 'packet' | 'atMs'> {
  /** Position among all sightings: the order in which a compute noted them. */
  readonly cameIn: number;
  readonly inMs: number;
  leftAt?: number;
  outMs?: number;
  lost?: string;
}

/** Most passes of a packet that are looked at: more are those of a storm. */
const mostPasses = 200;

export const middleOf = (linkId: string): string => `link ${linkId}`;
const isMiddle = (place: string): boolean => place.startsWith('link ');

/** Facts of the packet that are known before it is seen. */
export interface WantedPacket {
  /** Places of the two nodes. */
  readonly from: string;
  readonly to: string;
  /** Addresses of the two nodes in hexadecimal; empty: not known. */
  readonly fromAddresses: readonly string[];
  readonly toAddresses: readonly string[];
}

export interface FoundWays {
  readonly ways: readonly PacketWay[];
  readonly address: string | null;
  /** The answer has arrived. */
  readonly answered: boolean;
}

/** The first echo that leaves the one node for the other, and its answer; without one, the question for the MAC address before it. */
export function findWays(sightings: readonly Sighting[], wanted: WantedPacket): FoundWays {
  const question = findQuestion(sightings, wanted, 'echo') ?? findQuestion(sightings, wanted, 'arp');
  if (!question) return { ways: [], address: null, answered: false };
  const { packet } = question;
  const answers = sightings.filter(
    ({ point, packet: { kind, isAnswer, from, to, echo } }) =>
      point === 'in' && kind === packet.kind && isAnswer && from === packet.to && to === packet.from && echo === packet.echo,
  );
  // Elsewhere it is seen on its way.
  const answer = answers.find(({ from }) => from === wanted.to) ?? answers[0];
  const goal = packet.kind === 'arp' && answer ? answer.from : wanted.to;
  const there = wayOf(sightings, question, { from: wanted.from, to: goal });
  const back = answer && wayOf(sightings, answer, { from: answer.from, to: wanted.from });
  return {
    ways: back ? [there, back] : [there],
    address: addressText(packet.to),
    answered: packet.kind === 'echo' && back?.end === 'arrived',
  };
}

const isAt = ({ from, to }: Sighting, place: string): boolean => from === place || to === place;

function findQuestion(sightings: readonly Sighting[], wanted: WantedPacket, kind: 'arp' | 'echo'): Sighting | undefined {
  const isOne = (known: readonly string[], address: string) => known.length === 0 || known.includes(address);
  const found = sightings.filter(
    ({ point, from, packet }) =>
      point === 'in' &&
      from === wanted.from &&
      packet.kind === kind &&
      !packet.isAnswer &&
      isOne(wanted.fromAddresses, packet.from) &&
      (kind === 'arp' || isOne(wanted.toAddresses, packet.to)),
  );
  // A packet that came to the node before is one that it forwards.
  const first = new Map(sightings.toReversed().flatMap((one) => (isAt(one, wanted.from) ? [[one.packet.key, one.from]] : [])));
  const own = found.filter(({ packet }) => first.get(packet.key) === wanted.from);
  // The packet that arrives is the one that is meant, where no address is known.
  const arriving = new Set(sightings.flatMap(({ to, packet }) => (to === wanted.to ? packet.key : [])));
  const isMeant = ({ packet: { key, to } }: Sighting) =>
    wanted.toAddresses.length > 0 ? wanted.toAddresses.includes(to) : arriving.has(key);
  return own.find(isMeant) ?? own[0];
}

function wayOf(
  sightings: readonly Sighting[],
  first: Sighting,
  { from, to }: { readonly from: string; readonly to: string },
): PacketWay {
  const passes = passesOf(sightings, first.packet.key);
  const before = new Map(passes.map((pass) => [pass, pass.from === from ? undefined : passBefore(pass, passes)]));
  const chains = passes.flatMap((pass) => {
    const chain = chainTo(pass, before, from);
    return chain ? [chain] : [];
  });
  const arrived = chains.filter((chain) => chain.at(-1)?.to === to && chain.at(-1)?.outMs !== undefined);
  const best = earliest(arrived) ?? farthest(chains) ?? [];
  const last = best.at(-1);
  const { kind, isAnswer } = first.packet;
  return { packet: kind === 'arp' ? 'arp' : 'echo', is_answer: isAnswer, hops: hopsOf(best), end: endOf(last, to) };
}

function passesOf(sightings: readonly Sighting[], key: string): Pass[] {
  const passes: Pass[] = [];
  const open = new Map<string, Pass[]>();
  for (const [index, { point, packet, atMs, ...place }] of sightings.entries()) {
    if (packet.key !== key) continue;
    const name = `${place.linkId} ${place.from} ${place.to}`;
    const waiting = open.get(name) ?? [];
    open.set(name, waiting);
    if (point === 'in') {
      if (passes.length >= mostPasses) continue;
      const pass: Pass = { ...place, cameIn: index, inMs: atMs };
      passes.push(pass);
      waiting.push(pass);
      continue;
    }
    // A copy that a filter made of the frame has no pass of its own.
    const pass = waiting.shift();
    if (!pass) continue;
    if (point === 'out') Object.assign(pass, { outMs: atMs, leftAt: index });
    else pass.lost = point;
  }
  return passes;
}

/** The passes from the begin to this one; undefined: it does not lead back to there. */
function chainTo(pass: Pass, before: ReadonlyMap<Pass, Pass | undefined>, from: string): Pass[] | undefined {
  const chain = [pass];
  for (let first = pass; first.from !== from; ) {
    const earlier = before.get(first);
    if (!earlier || chain.length > before.size) return undefined;
    chain.push(earlier);
    first = earlier;
  }
  return chain.reverse();
}

function passBefore(pass: Pass, passes: readonly Pass[]): Pass | undefined {
  const arrivals = passes.filter(({ to, outMs }) => to === pass.from && outMs !== undefined);
  if (!isMiddle(pass.from)) return arrivals.findLast(({ leftAt = 0 }) => leftAt < pass.cameIn);
  // The clocks of the two computes differ: frames keep their order.
  return arrivals[passes.filter(({ from }) => from === pass.from).indexOf(pass)];
}

function earliest(chains: readonly Pass[][]): Pass[] | undefined {
  return chains.toSorted((one, other) => (one.at(-1)?.leftAt ?? 0) - (other.at(-1)?.leftAt ?? 0))[0];
}

/** Rather one that a link lost than one that a node did not send on; of those the longest, then the first. */
function farthest(chains: readonly Pass[][]): Pass[] | undefined {
  const value = (chain: readonly Pass[]) => chain.length + (chain.at(-1)?.lost === undefined ? 0 : 0.5);
  return chains.toSorted((one, other) => value(other) - value(one))[0];
}

function endOf(last: Pass | undefined, to: string): PacketWay['end'] {
  if (last?.lost !== undefined) return 'lost';
  if (!last || last.outMs === undefined || isMiddle(last.to)) return 'under_way';
  return last.to === to ? 'arrived' : 'stopped';
}

/** A link between two computes is one hop. */
function hopsOf(chain: readonly Pass[]): PacketHop[] {
  const hops: PacketHop[] = [];
  let begin = 0;
  for (const { linkId, fromNode, toNode, inMs, outMs, to, lost } of chain) {
    const before = hops.at(-1);
    const isSame = before?.link_id === linkId && before.from_node_id === fromNode;
    if (isSame) hops.pop();
    else begin = inMs;
    hops.push({
      link_id: linkId,
      from_node_id: fromNode,
      to_node_id: toNode,
      at_ms: begin,
      delay_ms: outMs === undefined || isMiddle(to) ? null : outMs - begin,
      lost: lost ?? null,
    });
  }
  return hops;
}

/** A link, by the places that it joins. */
interface JoinedPlaces {
  readonly linkId: string;
  readonly places: readonly [string, string];
}

/** The links that may lie on a way between two places: without dead ends, and what the places are not joined to. Takes linear time. */
export function linksBetween(links: readonly JoinedPlaces[], from: string, to: string): string[] {
  const joined = new Map<string, Set<JoinedPlaces>>();
  for (const link of links) {
    const [one, other] = link.places;
    if (one === other) continue;
    for (const place of link.places) joined.set(place, (joined.get(place) ?? new Set()).add(link));
  }
  removeDeadEnds(joined, new Set([from, to]));
  const found = new Set<JoinedPlaces>();
  const reached = new Set([from]);
  // The places that are added are visited in their turn.
  for (const place of reached) {
    for (const link of joined.get(place) ?? []) {
      found.add(link);
      for (const next of link.places) reached.add(next);
    }
  }
  return reached.has(to) ? links.filter((link) => found.has(link)).map(({ linkId }) => linkId) : [];
}

/** Only the neighbour of a dead end may be the next one. */
function removeDeadEnds(joined: ReadonlyMap<string, Set<JoinedPlaces>>, kept: ReadonlySet<string>): void {
  const doubtful = [...joined.keys()];
  for (let place = doubtful.pop(); place !== undefined; place = doubtful.pop()) {
    const own = joined.get(place);
    const [link] = own ?? [];
    if (!own || !link || own.size > 1 || kept.has(place)) continue;
    own.clear();
    const [one, other] = link.places;
    const neighbour = one === place ? other : one;
    joined.get(neighbour)?.delete(link);
    doubtful.push(neighbour);
  }
}
