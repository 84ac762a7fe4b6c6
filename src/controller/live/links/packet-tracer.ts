/**
 * Traces a packet between two nodes: the computes note frames at the links between them, a PC (VPCS) sends a ping, or one that is sent
 * otherwise is waited for, and the frames are put together to its way. Nothing of a trace is stored, and it takes no lock: what is
 * traced is the lab as it is.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fault, isFault } from '../../../api/faults.ts';
import { concurrency, forEachBounded } from '../../../lib/bounded.ts';
import type { FrameTraceStart, PacketTrace, PacketTraceStart, TracedFrameEntry } from '../../../schema/frame-trace.ts';
import type { NodeProbe, NodeProbeAnswer } from '../../../schema/pc-probe.ts';
import type { RegisteredCompute } from '../../computes/compute.ts';
import { findKind } from '../../model/node.ts';
import { addressHex, packetOf } from '../../model/traced-packet.ts';
import type { OpenNode } from '../nodes/open-node.ts';
import { endOf, type OpenLink } from './link.ts';
import type { LinkSet } from './link-set.ts';
import { type FoundWays, findWays, linksBetween, middleOf, type Sighting, type WantedPacket } from './packet-ways.ts';

/** A compute that does not answer in time does not trace. */
const computeMs = 5_000;
/** Limit of the answer to a ping. */
const answerMs = 4_000;
/** A ping waits so long for the MAC address of its neighbour. */
const neighbourMs = 5_000;
const spareMs = 15_000;
const pollMs = 400;
const usualWaitSeconds = 20;

interface TracedProject {
  readonly projectId: string;
  readonly nodes: { get(nodeId: string): OpenNode };
  readonly links: LinkSet;
}

/** @throws `node_not_found`, `trace_…`, `node_not_started`, `invalid_request`, and what the compute of a PC answers */
export async function tracePacket(project: TracedProject, body: PacketTraceStart, signal: AbortSignal): Promise<PacketTrace> {
  const [from, to] = [project.nodes.get(body.from_node_id), project.nodes.get(body.to_node_id)];
  if (from === to) throw fault('trace_same_node', { name: from.entry.name });
  if (from.live.status !== 'started') throw fault('node_not_started', { name: from.entry.name });
  const ids = new Set(linksBetween([...project.links.all()].map(joined), placeOf(from), placeOf(to)));
  const links = [...project.links.all()].filter(({ entry }) => ids.has(entry.link_id));
  if (links.length === 0) throw fault('trace_not_joined', { from: from.entry.name, to: to.entry.name });
  const sender = isPc(from) ? await pingOf(from, to, body) : undefined;
  const known = sender ? [sender.address] : isPc(to) ? await addressesOf(to) : given(body);
  const toAddresses = known.flatMap((address) => addressHex(address) ?? []);
  const wanted: WantedPacket = {
    from: placeOf(from),
    to: placeOf(to),
    fromAddresses: sender?.own.flatMap((address) => addressHex(address) ?? []) ?? [],
    toAddresses,
  };
  const waitMs = (body.wait_seconds ?? usualWaitSeconds) * 1000;
  const tracing = new Tracing(project.projectId, links);
  const limitMs = sender ? answerMs + neighbourMs : waitMs + answerMs;
  let probed: PingEnd = { failure: null };
  let found: FoundWays;
  try {
    await tracing.start(limitMs + spareMs, sender ? [...wanted.fromAddresses, ...toAddresses] : toAddresses);
    if (sender) probed = await pingUntilLost(tracing, wanted, { ping: sender.ping, signal });
    found = sender ? findWays(await tracing.read(), wanted) : await waitFor(tracing, wanted, { waitMs, signal });
  } finally {
    await tracing.end();
  }
  return {
    from_node_id: from.id,
    to_node_id: to.id,
    address: found.address ?? sender?.address ?? null,
    answered: found.answered,
    ways: [...found.ways],
    failure: probed.failure,
    error: probed.replies?.find(({ error }) => error)?.error ?? null,
    untraced_links: tracing.untraced(),
    clocks_differ: tracing.computes > 1,
  };
}

type PingEnd = Pick<NodeProbeAnswer, 'failure' | 'replies'>;

/** Ends the ping as soon as a link has lost it. */
async function pingUntilLost(
  tracing: Tracing,
  wanted: WantedPacket,
  { ping, signal }: { readonly ping: (signal: AbortSignal) => Promise<NodeProbeAnswer>; readonly signal: AbortSignal },
): Promise<PingEnd> {
  const lost = new AbortController();
  let isOver = false;
  const sent: Promise<PingEnd> = ping(AbortSignal.any([signal, lost.signal]))
    .then((answer) => (lost.signal.aborted ? { failure: null } : answer))
    .catch((error) => {
      if (lost.signal.aborted || signal.aborted) return { failure: null };
      throw error;
    })
    .finally(() => {
      isOver = true;
    });
  // A rejection is awaited below, but not while frames are read.
  const settled = sent.catch(() => undefined);
  while (!isOver) {
    const pause = new AbortController();
    await Promise.race([settled, sleep(pollMs, undefined, { signal: pause.signal }).catch(() => undefined)]);
    pause.abort();
    const isLost =
      !isOver && findWays(await tracing.read(), wanted).ways.some(({ packet, end }) => packet === 'echo' && end === 'lost');
    if (isLost) lost.abort();
    if (isLost) break;
  }
  return sent;
}

/** Reads the frames until a packet has travelled, or no more is waited for. */
async function waitFor(
  tracing: Tracing,
  wanted: WantedPacket,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<FoundWays> {
  let limitMs = performance.now() + waitMs;
  let isSeen = false;
  for (;;) {
    const found = findWays(await tracing.read(), wanted);
    if (found.answered || signal.aborted || performance.now() >= limitMs) return found;
    if (!isSeen && found.ways.some(({ packet }) => packet === 'echo')) {
      isSeen = true;
      limitMs = performance.now() + answerMs;
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
  }
}

const outside = 'outside';
const placeOf = (node: OpenNode): string => (findKind(node.entry.node_type)?.isUplink ? outside : node.id);
const joined = ({ entry, nodes }: OpenLink) => ({
  linkId: entry.link_id,
  places: [placeOf(nodes[0]), placeOf(nodes[1])] as const,
});

/** PCs of stock GNS3 computes answer no probes. */
function isPc({ entry, compute }: OpenNode): boolean {
  return findKind(entry.node_type)?.inFabric === 'pc' && compute?.isStock === false;
}

function probe(
  { transport, route, request }: OpenNode,
  body: NodeProbe,
  { limitMs, signal }: { readonly limitMs: number; readonly signal?: AbortSignal },
): Promise<NodeProbeAnswer> {
  return transport.call(`POST ${route}/probe`, { ...request, body, timeoutMs: limitMs, ...(signal && { signal }) });
}

/** Reads the addresses of a PC, without prefixes. */
async function addressesOf(pc: OpenNode): Promise<string[]> {
  const { addresses = [] } = await probe(pc, { type: 'addresses' }, { limitMs: computeMs });
  return addresses.map((address) => address.replace(/\/.*$/, ''));
}

/** @throws `invalid_request` */
function given({ address }: PacketTraceStart): string[] {
  if (!address) return [];
  if (addressHex(address) === undefined) throw fault('invalid_request', { reason: `address: "${address}" is not an IP address` });
  return [address];
}

/** A ping of a PC to an address that was given, or that the other PC has. @throws `trace_no_address`, `invalid_request` */
async function pingOf(from: OpenNode, to: OpenNode, body: PacketTraceStart) {
  const own = await addressesOf(from);
  const theirs = body.address || !isPc(to) ? given(body) : await addressesOf(to);
  const address = theirs.find((one) => !/^fe80:/i.test(one)) ?? (body.address ? theirs[0] : undefined);
  if (address === undefined) throw fault('trace_no_address', { name: to.entry.name });
  const ping = { type: 'ping', to: address, count: 1, timeout_ms: answerMs } as const;
  return { own, address, ping: (signal: AbortSignal) => probe(from, ping, { limitMs: answerMs + neighbourMs + spareMs, signal }) };
}

interface TracedPort {
  readonly compute: RegisteredCompute;
  readonly port: FrameTraceStart['ports'][number];
}

/** The traces of one packet at the computes of its links. */
class Tracing {
  readonly #id = randomUUID();
  readonly #projectId: string;
  readonly #links: ReadonlyMap<string, OpenLink>;
  /** Traced links of each compute. */
  readonly #traced = new Map<RegisteredCompute, ReadonlySet<string>>();

  constructor(projectId: string, links: readonly OpenLink[]) {
    this.#projectId = projectId;
    this.#links = new Map(links.map((link) => [link.entry.link_id, link]));
  }

  /** @throws `trace_too_many` */
  async start(leaseMs: number, marks: readonly string[]): Promise<void> {
    const ports = [...this.#links.values()].flatMap(portsOf);
    const errors = await forEachBounded([...new Set(ports.map(({ compute }) => compute))], concurrency, async (compute) => {
      const body: FrameTraceStart = {
        trace_id: this.#id,
        lease_ms: leaseMs,
        marks: [...new Set(marks)],
        ports: ports.filter((one) => one.compute === compute).map(({ port }) => port),
      };
      const call = { path: { project_id: this.#projectId }, body, timeoutMs: computeMs };
      this.#traced.set(compute, new Set());
      this.#traced.set(compute, new Set(await compute.transport.call('POST /v2/compute/projects/{project_id}/traces', call)));
    });
    const full = errors.find((error) => isFault(error, 'trace_too_many'));
    if (full) throw full;
  }

  /** The frames noted so far, in the order of time. A compute that does not answer has noted none. */
  async read(): Promise<Sighting[]> {
    const found: Sighting[] = [];
    await forEachBounded([...this.#traced.keys()], concurrency, async (compute) => {
      const call = { path: this.#path, timeoutMs: computeMs };
      const frames = await compute.transport.call('GET /v2/compute/projects/{project_id}/traces/{trace_id}', call);
      found.push(...frames.flatMap((frame) => this.#sighting(frame)));
    });
    return found.sort((one, other) => one.atMs - other.atMs);
  }

  /** Never rejects: a trace that cannot be ended ends with its lease. */
  async end(): Promise<void> {
    await forEachBounded([...this.#traced.keys()], concurrency, (compute) =>
      compute.transport.send('DELETE /v2/compute/projects/{project_id}/traces/{trace_id}', {
        path: this.#path,
        timeoutMs: computeMs,
      }),
    );
  }

  untraced(): string[] {
    return [...this.#links.keys()].filter((id) => ![...this.#traced.values()].some((traced) => traced.has(id)));
  }

  /** Number of computes that trace. */
  get computes(): number {
    return [...this.#traced.values()].filter(({ size }) => size > 0).length;
  }

  get #path() {
    return { project_id: this.#projectId, trace_id: this.#id };
  }

  #sighting({ link_id, node_id, from_node, point, at_ms, frame }: TracedFrameEntry): Sighting[] {
    const link = this.#links.get(link_id);
    const packet = packetOf(Buffer.from(frame, 'base64'));
    if (!link || !packet) return [];
    const [here, there] = link.nodes[0].id === node_id ? link.nodes : [link.nodes[1], link.nodes[0]];
    const isSplit = [...this.#traced.values()].filter((traced) => traced.has(link_id)).length > 1;
    const [near, far] = [placeOf(here), isSplit ? middleOf(link_id) : placeOf(there)];
    const way = from_node
      ? { fromNode: here.id, toNode: there.id, from: near, to: far }
      : { fromNode: there.id, toNode: here.id, from: far, to: near };
    return [{ linkId: link_id, ...way, point, atMs: at_ms, packet }];
  }
}

/** The ports at which a link is traced: one for each of its computes that can. */
function portsOf({ entry, nodes }: OpenLink): TracedPort[] {
  const ends = nodes[0].compute === nodes[1].compute ? ([0] as const) : ([0, 1] as const);
  return ends.flatMap((end) => {
    const { compute, id: node_id } = nodes[end];
    if (!compute || compute.isStock) return [];
    const { adapter: adapter_number, port: port_number } = endOf(entry, end);
    return [{ compute, port: { link_id: entry.link_id, node_id, adapter_number, port_number } }];
  });
}
