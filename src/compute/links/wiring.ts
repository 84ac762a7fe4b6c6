/**
 * Makes links of the fabric from NIOs.
 *
 * Theory of operation. The API knows no links: a client gives each end of a link a NIO, "frames of this port leave for rhost:rport
 * and arrive at lport". When the two ends of such a pair are both on this compute (each one's lport is the other's rport, and both
 * name an address of this machine), one link of the fabric joins the two emulators' ports directly and no datagram is sent at all;
 * its id comes from the pair of ports, so it is the same after a restart. Every other NIO is a link between the emulator's port and
 * a datagram socket, which is what other servers and programs of this protocol speak. A NIO whose other end is a compute of ours,
 * too, says how the two make a stream beside it.
 *
 * A link of the fabric exists exactly while the emulators it needs run; when only one of a pair runs and is captured, what it sends
 * into the void is seen on a link to its datagram socket. What should be is a pure function of the NIOs and of who runs; a change
 * recomputes the links of the NIOs it touches and of their partners, found by lport (`port-holders.ts`), so it costs the same with
 * ten NIOs and with ten thousand. Requests to the fabric are sent in the order of the changes: the map of links is changed and the
 * requests are written in one go, without waiting in between.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { fault } from '../../api/faults.ts';
import {
  type BpfPrograms,
  bpfKeys,
  type CaptureSpec,
  type LinkFailure,
  type LinkSpec,
  type MirrorSpec,
  type PortSpec,
} from '../../fabric/protocol.ts';
import { EventStream } from '../../lib/event-stream.ts';
import { reversed } from '../../schema/filter.ts';
import type { LinkSchedule } from '../../schema/schedule.ts';
import { reversedSchedule } from '../../schema/schedule-rules.ts';
import { type CaptureRecord, capturesOf, type NioRecord } from '../store.ts';
import { MirrorBindings } from './mirror-bindings.ts';
import { PortHolders } from './port-holders.ts';

/** The part of the fabric's client that is needed here. */
export interface FabricLinks {
  /** Answers the links that are not as asked for. */
  apply(links: LinkSpec[]): Promise<LinkFailure[]>;
  remove(ids: string[]): Promise<unknown>;
  sync(links: LinkSpec[]): Promise<LinkFailure[]>;
  /** Returns the links that have an end which is not connected yet. */
  unconnected(ids: string[]): Promise<string[]>;
}

/** A machine that has just started listens already: longer, only a link that stays down takes. */
const connectMs = 2000;
const pollMs = 5;

export interface PortAddress {
  readonly nodeId: string;
  readonly adapter: number;
  readonly port: number;
}
export interface Binding extends PortAddress {
  readonly nio: NioRecord;
}
/** Where the fabric reaches a running node's port. */
type PortOf = (adapter: number, port: number) => PortSpec | undefined;

export class FabricWiring {
  /** Ids of nodes at the other end of which a node was started or has ended, or a schedule was changed. */
  readonly peerChanges = new EventStream<string>();
  readonly #fabric: FabricLinks;
  readonly #isLocal: (address: string) => boolean;
  readonly #byNode = new Map<string, Map<string, Binding>>();
  readonly #ports = new PortHolders((nodeId) => this.#running.has(nodeId));
  readonly #capturing = new Set<Binding>();
  readonly #mirrors = new MirrorBindings();
  readonly #running = new Map<string, PortOf>();
  /** The links that were sent to the fabric. */
  readonly #links = new Map<string, LinkSpec>();
  #live = false;
  /** Whether a request to the fabric failed, so that the fabric's links may differ from the wanted ones. */
  #isBehind = false;

  constructor(fabric: FabricLinks, isLocal: (address: string) => boolean) {
    this.#fabric = fabric;
    this.#isLocal = isLocal;
  }

  /** Sends the fabric all links; before the first call changes are only noted. */
  sync(): Promise<LinkFailure[]> {
    this.#live = true;
    this.#isBehind = false;
    return this.#noted(this.#fabric.sync([...this.#links.values()]));
  }

  /** No link is in the fabric until the next `sync`; changes are noted. */
  async hold(): Promise<void> {
    this.#live = false;
    await this.#fabric.sync([]);
  }

  find(end: PortAddress): Binding | undefined {
    return this.#byNode.get(end.nodeId)?.get(keyOf(end));
  }

  /** The NIO that has this local port. */
  findByPort(lport: number): Binding | undefined {
    return this.#ports.get(lport);
  }

  isRunning(nodeId: string): boolean {
    return this.#running.has(nodeId);
  }

  ofNode(nodeId: string): Binding[] {
    return [...(this.#byNode.get(nodeId)?.values() ?? [])];
  }

  /** The NIOs that are captured. */
  capturing(): Binding[] {
    return [...this.#capturing];
  }

  /** Binds a NIO, in place of the one that was there. Refused by the fabric: all is as before. */
  async bind(end: PortAddress, nio: NioRecord): Promise<void> {
    const before = this.find(end);
    const after: Binding = { nodeId: end.nodeId, adapter: end.adapter, port: end.port, nio };
    try {
      const [failure] = await this.#change([before, after], () => this.#replace(before, after));
      if (failure) throw fault('link_failed', { reason: failure.error });
    } catch (error) {
      if (this.find(end) === after) await this.#change([before, after], () => this.#replace(after, before)).catch(() => undefined);
      throw error;
    }
  }

  async unbind(end: PortAddress): Promise<void> {
    const before = this.find(end);
    if (before) await this.#change([before], () => this.#replace(before, undefined));
  }

  /** The node runs: its links come up. Those that do not are answered; the fabric keeps trying. */
  async up(nodeId: string, portOf: PortOf): Promise<LinkFailure[]> {
    const isNew = !this.#running.has(nodeId);
    const bindings = this.ofNode(nodeId);
    const failures: LinkFailure[] = [];
    const applied = await this.#change(bindings, () => {
      this.#running.set(nodeId, portOf);
      for (const binding of bindings) {
        const { lport } = binding.nio;
        if (!this.#ports.claim(binding)) failures.push({ id: singleId(lport), error: `a node that runs has UDP port ${lport}` });
      }
    });
    if (isNew) this.#announcePeers(nodeId);
    return [...failures, ...applied];
  }

  async down(nodeId: string): Promise<void> {
    if (!this.#running.has(nodeId)) return;
    await this.#change(this.ofNode(nodeId), () => this.#running.delete(nodeId)).finally(() => this.#announcePeers(nodeId));
  }

  /** Announces that the link's state has changed as the node at the other end sees it. */
  announcePeer(binding: Binding): void {
    const partner = this.#partnerOf(binding);
    if (partner) this.peerChanges.emit(partner.nodeId);
  }

  #announcePeers(nodeId: string): void {
    for (const binding of this.ofNode(nodeId)) this.announcePeer(binding);
  }

  /** Whether the node at the other end runs, as far as that is known. */
  hasRunningPeer(binding: Binding): boolean {
    const partner = this.#partnerOf(binding);
    return partner ? this.#running.has(partner.nodeId) : binding.nio.peer_stopped !== true;
  }

  /** Returns the schedule of the link, whichever of its ends runs it; only the outages where another compute runs it. */
  scheduleOf(binding: Binding): LinkSchedule | undefined {
    return binding.nio.schedule ?? this.#partnerOf(binding)?.nio.schedule ?? binding.nio.outages;
  }

  get hasLinks(): boolean {
    return this.#links.size > 0;
  }

  /** The fabric's link that serves a NIO now, and which of its ends that is, for its counters. */
  placeOf(end: PortAddress): { linkId: string; side: 'a' | 'b' } | undefined {
    const binding = this.find(end);
    const spec = binding && this.#ports.holds(binding) ? this.#specOf(binding) : undefined;
    if (!spec || !binding) return undefined;
    const { lport, rport } = binding.nio;
    return { linkId: spec.id, side: spec.id === singleId(lport) || lport < rport ? 'a' : 'b' };
  }

  /** Returns the ids of all links that these nodes can have in the fabric with their NIOs. */
  linkIdsOf(nodeIds: readonly string[]): string[] {
    return [...new Set(nodeIds.flatMap((id) => this.ofNode(id)).flatMap(({ nio }) => possibleLinkIds(nio)))];
  }

  /** Settles when both ends of the links of these nodes are connected, or that takes too long. Never rejects. */
  async connected(nodeIds: readonly string[]): Promise<void> {
    const limitMs = performance.now() + connectMs;
    const ids = this.linkIdsOf(nodeIds);
    const areConnected = async () => (await this.#fabric.unconnected(ids)).length === 0;
    while (performance.now() < limitMs && !(await areConnected().catch(() => true))) await delay(pollMs);
  }

  #replace(before: Binding | undefined, after: Binding | undefined): void {
    if (before) {
      this.#capturing.delete(before);
      this.#mirrors.delete(before);
      this.#byNode.get(before.nodeId)?.delete(keyOf(before));
      if (this.#byNode.get(before.nodeId)?.size === 0) this.#byNode.delete(before.nodeId);
    }
    const isSamePort = before && before.nio.lport === after?.nio.lport;
    if (before && isSamePort) this.#ports.replace(before, after);
    else if (before) this.#ports.release(before);
    if (after) {
      const ends = this.#byNode.get(after.nodeId) ?? new Map<string, Binding>();
      this.#byNode.set(after.nodeId, ends.set(keyOf(after), after));
      if (!isSamePort) this.#ports.claim(after);
      if (capturesOf(after.nio).length > 0) this.#capturing.add(after);
      this.#mirrors.add(after);
    }
  }

  async #change(touched: readonly (Binding | undefined)[], mutate: () => void): Promise<LinkFailure[]> {
    const bindings = new Set<Binding>();
    for (const binding of touched) {
      if (!binding) continue;
      bindings.add(binding);
      // The change concerns the NIO's own link, or the link that it mirrors.
      const source = binding.nio.mirror_of === undefined ? binding : this.#ports.get(binding.nio.mirror_of);
      const other = source && this.#ports.get(source.nio.rport);
      for (const each of [source, other]) if (each) bindings.add(each);
    }
    const stale = new Set<string>();
    for (const binding of bindings) for (const id of possibleLinkIds(binding.nio)) if (this.#links.has(id)) stale.add(id);
    mutate();
    // Another NIO may have got the port.
    for (const { nio } of [...bindings]) {
      const holder = this.#ports.get(nio.lport);
      if (holder) bindings.add(holder);
    }
    const changed = new Map<string, LinkSpec>();
    for (const binding of bindings) {
      const spec = this.#ports.holds(binding) ? this.#specOf(binding) : undefined;
      if (!spec) continue;
      stale.delete(spec.id);
      if (!isDeepStrictEqual(this.#links.get(spec.id), spec)) changed.set(spec.id, spec);
    }
    for (const id of stale) this.#links.delete(id);
    for (const [id, spec] of changed) this.#links.set(id, spec);
    if (!this.#live) return [];
    if (this.#isBehind) return (await this.sync()).filter(({ id }) => changed.has(id));
    // Removed first: a link to be made may need the datagram socket of one that goes.
    const removed = stale.size > 0 ? this.#noted(this.#fabric.remove([...stale])) : undefined;
    const applied = changed.size > 0 ? this.#noted(this.#fabric.apply([...changed.values()])) : [];
    return (await Promise.all([applied, removed]))[0];
  }

  /** Notes the failure of a request: the next change then sends all links. */
  #noted<T>(request: Promise<T>): Promise<T> {
    request.catch(() => {
      this.#isBehind = true;
    });
    return request;
  }

  #specOf(binding: Binding): LinkSpec | undefined {
    const spec = this.#linkOf(binding);
    const mirrors = spec && this.#mirrorsOf(binding);
    return mirrors && mirrors.length > 0 ? { ...spec, mirrors } : spec;
  }

  /** The ports that are sent the frames of a link as well, as far as their nodes run. */
  #mirrorsOf(binding: Binding): MirrorSpec[] {
    const ends = [binding, this.#partnerOf(binding)].filter((end) => end !== undefined);
    const here = ends.flatMap((end) => this.#mirrors.of(end.nio.lport));
    const running = here.flatMap((mirror) => {
      const port = this.#portOf(mirror);
      return port ? [{ id: mirrorId(mirror), port }] : [];
    });
    return [...running, ...ends.flatMap(({ nio }) => (nio.mirror_to ? [remoteMirror(nio.mirror_to)] : []))];
  }

  #linkOf(binding: Binding): LinkSpec | undefined {
    if (binding.nio.mirror_of !== undefined) return undefined;
    const here = this.#portOf(binding);
    const partner = this.#partnerOf(binding);
    if (!partner) return here && single(binding, here);
    const there = this.#portOf(partner);
    if (here && !there && capturesOf(binding.nio).length > 0) return single(binding, here);
    if (!here || !there) return undefined;
    return binding.nio.lport < partner.nio.lport
      ? pair([binding, here], [partner, there])
      : pair([partner, there], [binding, here]);
  }

  #partnerOf(binding: Binding): Binding | undefined {
    const partner = this.#ports.get(binding.nio.rport);
    if (!partner || partner === binding || partner.nio.rport !== binding.nio.lport) return undefined;
    if (binding.nio.mirror_of !== undefined || partner.nio.mirror_of !== undefined) return undefined;
    return this.#isLocal(binding.nio.address) && this.#isLocal(partner.nio.address) ? partner : undefined;
  }

  #portOf(binding: Binding): PortSpec | undefined {
    return this.#running.get(binding.nodeId)?.(binding.adapter, binding.port);
  }
}

function keyOf(end: PortAddress): string {
  return `${end.adapter}/${end.port}`;
}

function mirrorId({ nodeId, adapter, port }: PortAddress): string {
  return [nodeId, adapter, port].join('/');
}

/** The other compute has a link from there to the node's port. */
function remoteMirror({ node_id, adapter_number, port_number, ...route }: NonNullable<NioRecord['mirror_to']>): MirrorSpec {
  return { id: mirrorId({ nodeId: node_id, adapter: adapter_number, port: port_number }), port: datagramsTo(route) };
}

/** The port that a mirror of the fabric's stands for. */
export function mirrorOf(id: string): PortAddress {
  const [nodeId = '', adapter, port] = id.split('/');
  return { nodeId, adapter: Number(adapter), port: Number(port) };
}

function pairId(one: number, other: number): string {
  return `pair-${Math.min(one, other)}-${Math.max(one, other)}`;
}

/** Whether both ends of this link are nodes of this compute. */
export function isPair(linkId: string): boolean {
  return linkId.startsWith('pair-');
}

function singleId(lport: number): string {
  return `udp-${lport}`;
}

/** Every link this NIO can be part of. */
export function possibleLinkIds(nio: Pick<NioRecord, 'lport' | 'rport'>): string[] {
  return [singleId(nio.lport), pairId(nio.lport, nio.rport)];
}

/** Only the named peer is listened to, as GNS3's protocol has it. */
function datagramsTo({ lport, address, rport, stream }: Pick<NioRecord, 'lport' | 'address' | 'rport' | 'stream'>): PortSpec {
  // A peer on the loopback interface needs no port on other interfaces.
  const bind = /^127\./.test(address) ? { bind: '127.0.0.1' } : {};
  return { type: 'udp', lport, rhost: address, rport, strict: true, ...bind, ...(stream && { stream }) };
}

function single(binding: Binding, here: PortSpec): LinkSpec {
  const { lport, filters, suspend } = binding.nio;
  const there = datagramsTo(binding.nio);
  const effects = { filters, suspend, ...timingOf(binding.nio), ...programsOf(binding.nio) };
  return { id: singleId(lport), a: here, b: there, ...effects, ...capturesBetween(binding) };
}

/**
 * Clients put the filters on one end only; where both ends have some, one of each type acts. Each end says `ab` for what leaves its
 * own node.
 */
function pair([one, a]: [Binding, PortSpec], [other, b]: [Binding, PortSpec]): LinkSpec {
  return {
    id: pairId(one.nio.lport, other.nio.lport),
    a,
    b,
    filters: { ...reversed(other.nio.filters), ...one.nio.filters },
    suspend: one.nio.suspend || other.nio.suspend,
    ...(one.nio.schedule ? timingOf(one.nio) : timingOf(other.nio, reversedSchedule)),
    ...reversed(programsOf(other.nio)),
    ...programsOf(one.nio),
    ...capturesBetween(one, other),
  };
}

function timingOf(
  { schedule, expressions }: NioRecord,
  as = (given: LinkSchedule) => given,
): Pick<LinkSpec, 'schedule' | 'expressions'> {
  return { ...(schedule && { schedule: as(schedule) }), ...(expressions && { expressions: [...expressions] }) };
}

function programsOf(nio: NioRecord): BpfPrograms {
  const present = bpfKeys.filter((key) => nio.filters[key]);
  return Object.fromEntries(present.map((key) => [key, [...(nio[key] ?? [])]]));
}

function capturesBetween(...bindings: Binding[]): { captures?: CaptureSpec[] } {
  const captures = bindings.flatMap(({ nio }) => capturesOf(nio).map(captureSpec));
  return captures.length > 0 ? { captures } : {};
}

function captureSpec({ path, link_type, side, nanoseconds, max_bytes, until }: CaptureRecord): CaptureSpec {
  const limits = { ...(max_bytes !== undefined && { maxBytes: max_bytes }), ...(until !== undefined && { until }) };
  return { path, linkType: link_type, side, nanoseconds, ...limits };
}
