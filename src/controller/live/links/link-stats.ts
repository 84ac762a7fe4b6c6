/** The counters of an open project's links: each compute is asked once, and the counters of a link's two ends are combined. */

import { concurrency, forEachBounded } from '../../../lib/bounded.ts';
import { mapInTurns } from '../../../lib/turns.ts';
import { delayOf, linkDirections, reversed } from '../../../schema/filter.ts';
import type { DirectionCounters, DirectionFigures, LinkStats, PortStats, Rate } from '../../../schema/link-stats.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { LinkEntry } from '../../model/topology.ts';
import type { ProjectContext } from '../host/project-context.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import { endOf, type OpenLink } from './link.ts';
import type { LinkSet } from './link-set.ts';
import { joinedStorm, linkStorm, loopClosers, type StormyLink } from './storms.ts';

/** Counters that come later are out of date. Milliseconds. */
const timeoutMs = 5_000;

/** Answers of the computes. */
interface PortAnswers {
  /** Figures by `node/adapter/port`. */
  readonly ports: Map<string, PortStats>;
  /** Why a compute did not answer. */
  readonly failures: Map<RegisteredCompute, string>;
}

export class LinkStatsReader {
  readonly #context: ProjectContext;
  readonly #links: LinkSet;

  constructor(context: ProjectContext, links: LinkSet) {
    this.#context = context;
    this.#links = links;
  }

  /** @throws `link_not_found` */
  async get(linkId: string): Promise<LinkStats> {
    const { nodes } = this.#links.open(linkId);
    const answers = await this.#ask(nodes);
    const stats = this.#statsOf(this.#links.open(linkId), answers);
    if (!stats.storm) return stats;
    // Whether the link closes a loop is known by all links that carry the storm.
    return (await this.list()).find(({ link_id }) => link_id === linkId) ?? stats;
  }

  async list(): Promise<LinkStats[]> {
    const nodes = Array.from(this.#links.all(), (link) => link.nodes).flat();
    const answers = await this.#ask(nodes, { all: true });
    const links = [...this.#links.all()];
    const closers = loopClosers(await mapInTurns(links, (link) => this.#stormyLink(link, answers)).then((found) => found.flat()));
    return mapInTurns(links, (link) => this.#statsOf(link, answers, closers));
  }

  #stormyLink(link: OpenLink, answers: PortAnswers): StormyLink[] {
    const { entry, nodes } = link;
    const storm = joinedStorm(...stormsOf(portsOf(link, answers)));
    return storm ? [{ linkId: entry.link_id, nodeIds: [nodes[0].id, nodes[1].id], storm }] : [];
  }

  async #ask(nodes: readonly OpenNode[], { all = false } = {}): Promise<PortAnswers> {
    const answers: PortAnswers = { ports: new Map(), failures: new Map() };
    const computes = new Set(nodes.flatMap(({ compute }) => compute ?? []));
    await forEachBounded([...computes], concurrency, async (compute) => {
      const node_ids = nodes.flatMap((node) => (node.compute === compute ? node.id : []));
      try {
        const ports = await compute.transport.call('GET /v2/compute/projects/{project_id}/link_stats', {
          path: { project_id: this.#context.projectId },
          body: all ? {} : { node_ids },
          timeoutMs,
        });
        for (const port of ports) answers.ports.set(keyOf(port.node_id, port.adapter_number, port.port_number), port);
      } catch (error) {
        answers.failures.set(compute, (error as Error).message);
      }
    });
    return answers;
  }

  #statsOf(link: OpenLink, answers: PortAnswers, closers: ReadonlySet<string> = noLinks): LinkStats {
    const { entry, nodes } = link;
    const [one, other, isOne] = portsOf(link, answers);
    const storm = joinedStorm(...stormsOf([one, other, isOne]));
    const direction = (from: OpenNode, to: OpenNode, figures: DirectionFigures): DirectionCounters => ({
      from_node_id: from.id,
      from_node: from.entry.name,
      to_node_id: to.id,
      to_node: to.entry.name,
      ...figures,
    });
    const running = one !== undefined && other !== undefined;
    return {
      project_id: this.#context.projectId,
      link_id: entry.link_id,
      running,
      reason: running ? null : whyNot(link, answers.failures),
      // Some frames go as datagrams while the ends do not agree.
      carrier: [one?.carrier, other?.carrier].includes('udp') ? 'udp' : (one?.carrier ?? other?.carrier ?? null),
      since: [one?.since, other?.since].flatMap((since) => since ?? []).sort()[1] ?? one?.since ?? other?.since ?? null,
      directions: [
        direction(nodes[0], nodes[1], isOne && one ? one.from_node : joined(one?.from_node, other?.to_node)),
        direction(nodes[1], nodes[0], isOne && one ? one.to_node : joined(other?.from_node, one?.to_node)),
      ],
      ...reasonOf(one, other),
      ...pathOf(entry, one, other),
      captures: [one, other].flatMap((port) => port?.captures ?? []),
      ...scheduleOf(entry, one, other),
      ...mirrorsOf(entry, one, other),
      ...(storm && { storm: linkStorm(storm, closers.has(entry.link_id)) }),
    };
  }
}

const noLinks: ReadonlySet<string> = new Set();

/** The figures of a link's ends, and whether both are of one link of the fabric. */
type EndFigures = readonly [one: PortStats | undefined, other: PortStats | undefined, isOne: boolean];

function portsOf({ entry, nodes }: OpenLink, { ports }: PortAnswers): EndFigures {
  const [one, other] = ([0, 1] as const).map((end) => {
    const { adapter, port } = endOf(entry, end);
    return ports.get(keyOf(nodes[end].id, adapter, port));
  });
  return [one, other, nodes[0].compute === nodes[1].compute && one?.fabric_link === other?.fabric_link];
}

function stormsOf([one, other, isOne]: EndFigures): [PortStats['storm'], PortStats['storm']] {
  return [one?.storm, isOne ? undefined : other?.storm];
}

/** Returns the state of the schedule as the first node reports it. */
function scheduleOf({ schedule, filters, suspend }: LinkEntry, ...ports: (PortStats | undefined)[]): Pick<LinkStats, 'schedule'> {
  const [one, other] = ports;
  if (!schedule) return {};
  if (one?.schedule) return { schedule: one.schedule };
  if (other?.schedule) return { schedule: { ...other.schedule, filters: reversed(other.schedule.filters) } };
  // No compute runs it now.
  const { started_at } = schedule;
  return { schedule: { started_at, elapsed: Date.now() - started_at, filters, suspend } };
}

function reasonOf(...ports: (PortStats | undefined)[]): Pick<LinkStats, 'carrier_reason'> {
  const carrier_reason = ports.find((port) => port?.carrier_reason !== undefined)?.carrier_reason;
  return carrier_reason === undefined ? {} : { carrier_reason };
}

/**
 * Combines the path measurements of both ends: the shorter one waited less for a processor. A schedule's delay counts as the link's
 * own.
 */
export function pathOf(entry: LinkEntry, ...ports: (PortStats | undefined)[]): Pick<LinkStats, 'path'> {
  const paths = ports.flatMap((port) => port?.path ?? []);
  const [first] = paths;
  if (!first) return {};
  const trips = paths.flatMap(({ rtt_ms }) => rtt_ms ?? []);
  if (trips.length === 0) return { path: { via: first.via, rtt_ms: null, excess_ms: null } };
  const rtt_ms = Math.min(...trips);
  const filters = scheduleOf(entry, ...ports).schedule?.filters ?? entry.filters;
  const asked = Math.min(...linkDirections.map((direction) => delayOf(filters, direction)));
  const excess_ms = Math.round(1000 * Math.max(0, rtt_ms / 2 - asked)) / 1000;
  return { path: { via: first.via, rtt_ms, excess_ms } };
}

/** Returns the mirror's figures from either port: both ports of one compute report the same. */
function mirrorsOf({ mirror }: LinkEntry, ...ports: (PortStats | undefined)[]): Pick<LinkStats, 'mirrors'> {
  if (!mirror) return {};
  return { mirrors: ports.find((port) => port?.mirrors)?.mirrors ?? [] };
}

function keyOf(nodeId: string, adapter: number, port: number): string {
  return `${nodeId}/${adapter}/${port}`;
}

function whyNot({ nodes, udpPorts }: OpenLink, failures: Map<RegisteredCompute, string>): string {
  if (!udpPorts) return 'The link could not be made on its computes';
  for (const { compute, entry } of nodes) {
    const failure = compute && failures.get(compute);
    if (failure !== undefined) return `The compute of ${entry.name} did not answer: ${failure}`;
  }
  const stopped = nodes.filter(({ live }) => live.status === 'stopped').map(({ entry }) => entry.name);
  if (stopped.length === 2) return `${stopped.join(' and ')} are not started`;
  if (stopped.length === 1) return `${stopped[0]} is not started`;
  return 'The link is not in the fabric now';
}

const nothing: Rate = Object.freeze({ frames_per_second: 0, bits_per_second: 0 });
const none: DirectionFigures = Object.freeze({
  received_frames: 0,
  received_bytes: 0,
  frames: 0,
  bytes: 0,
  last_second: nothing,
  last_minute: nothing,
  dropped: {},
  queued_frames: 0,
  queued_bytes: 0,
  delay: null,
  late: null,
});

/**
 * Joins the figures of one direction of a link between two computes: frames received by the sender's compute, and delivered by the
 * other.
 */
export function joined(sending: DirectionFigures | undefined, receiving: DirectionFigures | undefined): DirectionFigures {
  if (!sending || !receiving) return sending ?? receiving ?? none;
  const dropped = { ...sending.dropped };
  for (const [cause, frames] of Object.entries(receiving.dropped)) dropped[cause] = (dropped[cause] ?? 0) + frames;
  return {
    ...receiving,
    received_frames: sending.received_frames,
    received_bytes: sending.received_bytes,
    dropped,
    queued_frames: sending.queued_frames + receiving.queued_frames,
    queued_bytes: sending.queued_bytes + receiving.queued_bytes,
    // Only one end of a link has its filters.
    delay: sending.delay ?? receiving.delay,
    late: sending.late ?? receiving.late ?? null,
  };
}
