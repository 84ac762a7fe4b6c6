/** Two ports and what happens to the frames between them. Changing a link leaves alone whatever stays the same. */
import type { LinkDirection } from '../../schema/filter.ts';
import { type CaptureFileLocks, noTaps, OpenCaptures } from '../captures/link-captures.ts';
import { translateBpf } from '../filters/bpf.ts';
import type { NamedFilter } from '../filters/filter.ts';
import { type HostEnds, KernelPath, type KernelPaths } from '../kernel-paths/kernel-paths.ts';
import type { PlaceName } from '../ports/interface-place.ts';
import type { FabricPort, PortOwner } from '../ports/port.ts';
import type { FabricLinkStats, FilterState, LinkSpec, PeerPath, PortSpec } from '../protocol.ts';
import { accessVlan } from '../switches/port-switch.ts';
import { Direction, type DirectionTools, type Rules } from './direction.ts';
import { type HostCounts, withTapLosses } from './host-counts.ts';
import { Impairments } from './impairments.ts';
import { LinkMirrors, type MirrorTools } from './link-mirrors.ts';
import { openPort } from './open-port.ts';
import type { Pacing } from './pacing.ts';
import type { Programs } from './programs.ts';
import type { DirectionFilters } from './stages.ts';
import { stormOfLink } from './storm-meter.ts';

type LinkSide = 'a' | 'b';

/** Fixed filters of a link, which act on frames besides the impairments. */
type Fixed = Readonly<Record<LinkDirection, Omit<DirectionFilters, 'chain' | 'match'>>>;

/** An end of a link: its port, and what becomes of the frames that the port reads. */
class PluggedEnd implements PortOwner {
  readonly key: string;
  readonly port: FabricPort;
  readonly #out: Direction;
  readonly #back: Direction;
  /** Undefined for a port of a switch: what that forwards has come in elsewhere. */
  readonly #pacing: Pacing | undefined;

  /** `out` is the direction that begins at this end, `back` the one that ends here. */
  constructor(spec: PortSpec, out: Direction, back: Direction, tools: LinkTools) {
    this.key = portKey(spec);
    this.#out = out;
    this.#back = back;
    this.#pacing = spec.type === 'switch' ? undefined : tools.pacing;
    this.port = openPort(spec, this, tools);
    out.source = this.port;
    back.sink = this.port;
  }

  received(buffer: Buffer, start: number, stop: number, frames: number): boolean {
    this.#pacing?.note(frames, this.#out.queues);
    return this.#out.receive(buffer, start, stop, frames);
  }

  drained(): void {
    this.#back.drained();
  }
}

export interface LinkTools extends DirectionTools, MirrorTools {
  readonly pacing: Pacing;
  readonly captureFiles: CaptureFileLocks;
  readonly kernelPaths: Readonly<Record<PlaceName, KernelPaths>>;
}

const nothingFixed: Fixed = { ab: { before: [], after: [] }, ba: { before: [], after: [] } };
const fixedOf = ({ a, b }: LinkSpec): Fixed => ({
  ab: { before: directLeases(a), after: admission(b) },
  ba: { before: directLeases(b), after: admission(a) },
});

/** Interval at which a link checks whether its delay queues are empty, before the kernel carries it again. */
const idlePollMs = 10;

export class FabricLink {
  readonly id: string;
  readonly #since = Date.now();
  readonly #tools: LinkTools;
  readonly #impairments: Impairments;
  readonly #rules: Rules = {
    suspend: false,
    untilMs: Number.POSITIVE_INFINITY,
    advance: (nowMs) => this.#advance(nowMs),
    ...noTaps,
  };
  /** Made with the first one. */
  #captures: OpenCaptures | undefined;
  #mirrors: LinkMirrors | undefined;
  readonly #ab: Direction;
  readonly #ba: Direction;
  /** The kernel's path of a link that the kernel may carry, or could carry before. */
  #kernel: KernelPath | undefined;
  #kernelPlace: PlaceName = 'host';
  #isHeld = false;
  #idleWait: NodeJS.Timeout | undefined;
  /** Undefined: the fabric is to carry it. */
  #kernelEnds: EligibleEnds | undefined;
  #closed = false;
  #fixed = nothingFixed;
  #ends: Partial<Record<LinkSide, PluggedEnd>> = {};

  constructor(id: string, tools: LinkTools) {
    this.id = id;
    this.#tools = tools;
    this.#impairments = new Impairments(this);
    this.#ab = new Direction(this.#rules, tools);
    this.#ba = new Direction(this.#rules, tools);
  }

  /** Unplugs the ports and ends the captures and mirrors that `spec` wants otherwise: another link can have their addresses and files. */
  unplugChanged(spec: LinkSpec): void {
    this.#captures?.keep(spec.captures ?? []);
    this.#mirrors?.keep(spec.mirrors ?? []);
    this.#showFrames();
    for (const end of ['a', 'b'] as const) {
      if (this.#ends[end] && this.#ends[end].key !== portKey(spec[end])) this.#unplug(end);
    }
  }

  /** Makes the link what `spec` says. Settles when the ports have been tried; then see `problem`. */
  async update(spec: LinkSpec, programs: Programs): Promise<void> {
    const hasFixed = [spec.a, spec.b].some((port) => port.type === 'stream');
    this.#fixed = hasFixed ? fixedOf(spec) : nothingFixed;
    this.#kernelEnds = kernelEndsOf(spec);
    this.#impairments.update(spec, programs);
    this.#impair();
    this.unplugChanged(spec);
    if (spec.captures?.length) this.#captures ??= new OpenCaptures(this.#tools.captureFiles);
    this.#captures?.apply(spec.captures ?? []);
    this.#plug('a', spec.a, this.#ab, this.#ba);
    this.#plug('b', spec.b, this.#ba, this.#ab);
    // Mirrors come after the steps that may throw: a rejection that nothing awaits would end the process.
    if (spec.mirrors?.length) this.#mirrors ??= new LinkMirrors(this.#tools);
    const mirrored = this.#mirrors?.apply(spec.mirrors ?? []);
    this.#showFrames();
    await Promise.all([this.#ends.a?.port.opened, this.#ends.b?.port.opened, mirrored, this.choosePath()]);
  }

  get problem(): string | undefined {
    return this.#ends.a?.port.problem ?? this.#ends.b?.port.problem ?? this.#mirrors?.problem;
  }

  /** Whether counters of this namespace are its own: the kernel has counted its frames, or an end is a TAP interface. */
  countedIn(place: PlaceName): { readonly byKernel: boolean; readonly atTaps: boolean } {
    const byKernel = this.#kernel?.hasCounts === true && this.#kernelPlace === place;
    return { byKernel, atTaps: [this.#ends.a, this.#ends.b].some((end) => end?.port.tap?.place === place) };
  }

  /** Time stands still for it, in both directions. Settles when no frame passes it by. */
  hold(nowMs: number): Promise<void> {
    this.#isHeld = true;
    this.#ab.hold(nowMs);
    this.#ba.hold(nowMs);
    return this.choosePath();
  }

  unhold(nowMs: number): void {
    this.#isHeld = false;
    this.#ab.unhold(nowMs);
    this.#ba.unhold(nowMs);
    void this.choosePath();
  }

  direction(name: LinkDirection): Direction {
    return name === 'ab' ? this.#ab : this.#ba;
  }

  filterStates(name: LinkDirection): FilterState[] {
    return this.#impairments.filterStates(name, this.direction(name).nowMs);
  }

  continueFilters(name: LinkDirection, states: readonly FilterState[]): void {
    this.#impairments.continueFilters(name, states, this.direction(name).nowMs);
  }

  get isConnected(): boolean {
    const { a, b } = this.#ends;
    return a?.port.connected === true && b?.port.connected === true;
  }

  /** Frames are being written to one of its ends. */
  get isWriting(): boolean {
    return this.#ab.isWriting || this.#ba.isWriting;
  }

  stats(counts: Readonly<Record<PlaceName, HostCounts>>): FabricLinkStats {
    const schedule = this.#impairments.state(performance.now());
    const captures = this.#captures?.stats() ?? [];
    const mirrors = this.#mirrors?.stats() ?? [];
    const [a, b] = [this.#ends.a?.port, this.#ends.b?.port];
    const carrier = this.#kernel?.isTaken ? 'kernel' : (a?.peer ?? b?.peer)?.carrier;
    const ab = withTapLosses(this.#ab.stats(), { source: a, sink: b }, counts);
    const ba = withTapLosses(this.#ba.stats(), { source: b, sink: a }, counts);
    const storm = stormOfLink(ab.storm, ba.storm, [accessVlan(a), accessVlan(b)]);
    return {
      id: this.id,
      since: this.#since,
      connected: { a: a?.connected ?? false, b: b?.connected ?? false },
      ...(carrier && { carrier }),
      ...(this.#path && { path: this.#path }),
      ...this.#whyNotKernel(),
      ab: this.#kernel?.add('ab', counts[this.#kernelPlace].kernel, ab) ?? ab,
      ba: this.#kernel?.add('ba', counts[this.#kernelPlace].kernel, ba) ?? ba,
      ...(captures.length > 0 && { captures }),
      ...(mirrors.length > 0 && { mirrors }),
      ...(schedule && { schedule }),
      ...(storm && { storm }),
    };
  }

  /** Delay of the path to the other compute, as `LinkPath`. */
  get oneWayMs(): number {
    return (this.#path?.rttMs ?? 0) / 2;
  }

  /** The path to the other compute. */
  get #path(): PeerPath | undefined {
    return (this.#ends.a?.port.peer ?? this.#ends.b?.port.peer)?.path;
  }

  #whyNotKernel(): Pick<FabricLinkStats, 'kernelObstacle'> {
    const { isTaken, obstacle } = this.#kernel ?? {};
    return this.#kernelEnds && !isTaken && obstacle !== undefined ? { kernelObstacle: obstacle } : {};
  }

  /** Settles when no frame of it is carried any more. */
  close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleWait);
    this.#ab.close();
    this.#ba.close();
    this.#unplug('a');
    this.#unplug('b');
    this.#captures?.apply([]);
    this.#mirrors?.keep([]);
    this.#showFrames();
    return this.#kernel?.end() ?? Promise.resolve();
  }

  /**
   * The fabric follows the new rules by now: a frame that comes to it is treated by them. Settles when those that must do so come to it.
   */
  async choosePath(): Promise<void> {
    clearTimeout(this.#idleWait);
    const wanted = this.#kernelEnds;
    if (!wanted || this.#isWatched || this.#closed) return this.#kernel?.leave();
    if (!this.#kernel || wanted.place !== this.#kernelPlace) {
      const before = this.#kernel;
      this.#kernel = new KernelPath(this.#tools.kernelPaths[wanted.place], () => this.isConnected);
      this.#kernelPlace = wanted.place;
      await before?.end();
    }
    const left = this.#kernel.isFor(wanted.ends) ? Promise.resolve() : this.#kernel.leave();
    this.#takeWhenIdle(wanted);
    return left;
  }

  /** Each frame must come to the fabric: time stands still for the link, or it is traced. */
  get #isWatched(): boolean {
    return this.#isHeld || this.#tools.traces.of(this.#ab) !== undefined;
  }

  /** Frames that wait in the fabric must not be overtaken. */
  #takeWhenIdle(wanted: EligibleEnds): void {
    const isWanted = () => this.#kernelEnds === wanted && !this.#isWatched && !this.#closed;
    if (!isWanted()) return;
    if (this.#ab.isIdle && this.#ba.isIdle) void this.#kernel?.take(wanted.ends, isWanted);
    else this.#idleWait = setTimeout(() => this.#takeWhenIdle(wanted), idlePollMs);
  }

  /** Captures and mirrors are shown the frames. */
  #showFrames(): void {
    const { before, after } = this.#captures?.taps ?? noTaps;
    this.#rules.before = before;
    this.#rules.after = this.#mirrors ? [...after, ...this.#mirrors.taps] : after;
  }

  #advance(nowMs: number): void {
    this.#impairments.advance(nowMs);
    this.#impair();
  }

  #impair(): void {
    const { chains, match, suspend, untilMs } = this.#impairments;
    this.#ab.setFilters({ chain: chains.ab, match: match.ab, ...this.#fixed.ab });
    this.#ba.setFilters({ chain: chains.ba, match: match.ba, ...this.#fixed.ba });
    this.#rules.suspend = suspend;
    this.#rules.untilMs = untilMs;
  }

  #plug(end: LinkSide, spec: PortSpec, out: Direction, back: Direction): void {
    const present = this.#ends[end]?.port;
    if (present) {
      present.change?.(spec);
      present.nudge();
    } else this.#ends[end] = new PluggedEnd(spec, out, back, this.#tools);
  }

  #unplug(end: LinkSide): void {
    this.#ends[end]?.port.close();
    delete this.#ends[end];
  }
}

/** Key of a port: specifications with the same key are the same port. */
function portKey(spec: PortSpec): string {
  if (spec.type === 'stream') return JSON.stringify(['stream', spec.path]);
  if (spec.type === 'packet') return JSON.stringify(['packet', spec.interface]);
  if (spec.type === 'datagrams') return JSON.stringify(['datagrams', spec.path, spec.peer, spec.header]);
  if (spec.type === 'tap') return JSON.stringify(['tap', spec.name, spec.inLinkNamespace ?? false]);
  if (spec.type === 'switch') return JSON.stringify(['switch', spec.switch, spec.port, spec.settings.medium]);
  if (spec.type === 'pc') return JSON.stringify(['pc', spec.pc]);
  const { lport, rhost, rport, bind, strict = false, mtu = 0, stream } = spec;
  const { role, encryption, probes } = stream ?? {};
  return JSON.stringify(['udp', lport, rhost, rport, bind, strict, mtu, role, encryption, probes]);
}

/**
 * Returns the filter that keeps from a port the frames that it must not get. It acts behind all filters of the link, so that none can make
 * such a frame. @throws filter_invalid
 */
function admission(sink: PortSpec): NamedFilter[] {
  if (sink.type !== 'stream' || !sink.admits) return [];
  const matches = translateBpf(sink.admits);
  return [{ type: 'not_admitted', filter: { pass: (buffer, start, end) => matches(buffer, start, end) !== 0 } }];
}

const addressBytes = 6;
const etherHeaderBytes = 14;
const ipv4 = 0x0800;
const udp = 17;
const udpHeaderBytes = 8;
const serverPort = 67;
const clientPort = 68;
/** Fields of the DHCP answer: the client's kind of address, and its address. Source: RFC 951 §3. */
const ethernet = 0x0106;
const addressTypeAt = 1;
const clientAddressAt = 28;
const isGroup = 1;

/**
 * Sends the answers of a DHCP server to the machine that they are for. QEMU's user network sends them to everybody, and VPCS takes only
 * those that are addressed to itself. A server may do either (RFC 2131 §4.1); the IP addresses stay as they are, so no sum changes.
 */
export function directLeases(source: PortSpec): NamedFilter[] {
  return source.type === 'stream' && source.directsLeases ? [{ type: 'lease', filter: { pass: address } }] : [];
}

function address(buffer: Buffer, start: number, end: number): boolean {
  // Nearly all frames go to one machine, and end here.
  if (((buffer[start] as number) & isGroup) === 0 || end - start < etherHeaderBytes + 1) return true;
  const ip = start + etherHeaderBytes;
  const transport = ip + ((buffer[ip] as number) & 0x0f) * 4;
  const answer = transport + udpHeaderBytes;
  const client = answer + clientAddressAt;
  if (end < client + addressBytes || buffer.readUInt16BE(ip - 2) !== ipv4 || buffer[ip + 9] !== udp) return true;
  if (buffer.readUInt16BE(transport) !== serverPort || buffer.readUInt16BE(transport + 2) !== clientPort) return true;
  const isMachine = buffer.readUInt16BE(answer + addressTypeAt) === ethernet && ((buffer[client] as number) & isGroup) === 0;
  if (isMachine) buffer.copyWithin(start, client, client + addressBytes);
  return true;
}

interface EligibleEnds {
  readonly place: PlaceName;
  readonly ends: HostEnds;
}

/**
 * Returns the ends of a link that the kernel may carry: it joins two containers or machines and does nothing to its frames, not even look
 * at them; undefined for all other links. An effect that this function does not know counts as one that does something.
 */
export function kernelEndsOf({ id: _id, a, b, ...effects }: LinkSpec): EligibleEnds | undefined {
  const [from, to] = [endOf(a), endOf(b)];
  if (from === undefined || to === undefined || from.place !== to.place) return undefined;
  return Object.values(effects).some(acts) ? undefined : { place: from.place, ends: [from.name, to.name] };
}

function endOf(spec: PortSpec): { readonly place: PlaceName; readonly name: string } | undefined {
  if (spec.type !== 'tap' || spec.hostEnd === undefined || spec.kernelPath === false) return undefined;
  return { place: spec.inLinkNamespace ? 'links' : 'host', name: spec.hostEnd };
}

/** Lists and objects that are empty do nothing. */
function acts(effect: unknown): boolean {
  if (typeof effect === 'object' && effect !== null) return Object.keys(effect).length > 0;
  return effect !== undefined && effect !== false;
}
