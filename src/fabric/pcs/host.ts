/**
 * The network host of a PC: its addresses, what it does with frames, and how its packets leave. Protocols above IP are in files of their
 * own; what runs for a user or a probe is a `PcTask`, which sees packets before the host's own services answer them.
 */
import {
  eui64,
  isInSubnet,
  isIp6,
  isLastOf,
  isLinkLocal,
  isLoopback,
  isMulticast,
  macBytes,
  multicastMac,
  solicitedNode,
  startsWith,
} from './addresses.ts';
import { Arp } from './arp.ts';
import { DhcpClient } from './dhcp.ts';
import { describeFrame } from './dump.ts';
import { type IcmpError, receiveIcmp } from './icmp.ts';
import { Discovery } from './nd.ts';
import { NeighbourTable } from './neighbours.ts';
import { etherTypes, type Packet, protocols, type ReceivedPacket, readPacket, u16, writeFrame, writePackets } from './packet.ts';
import type { PcOptions } from './pc-options.ts';
import type { PcSettings } from './pc-shapes.ts';
import { Reassembly } from './reassembly.ts';
import { Tcp } from './tcp.ts';
import type { Timers } from './timers.ts';
import { receiveUdp, UsedPorts } from './udp.ts';

/** A command or a probe that uses the network for some time. */
export interface PcTask {
  /** Whether the packet was for it. */
  onPacket?(packet: Packet): boolean;
  onIcmpError?(error: IcmpError): boolean;
  /** The packet leaves now: until then its neighbour was asked for. */
  onSent?(packet: Packet): void;
  /** The neighbour, or the router, that a packet needs does not answer. */
  onUnreachable?(packet: Packet): void;
  onTimer(name: string): void;
}

export type SendFailure = 'no_address' | 'no_gateway';
/** Packets to itself are delivered at once; so many of them deep. */
const deepestLoop = 8;
/** Smallest MTU of an IPv6 link (RFC 8200, 5). */
const smallestMtu6 = 1280;

export class PcHost {
  readonly mac: string;
  /** The 6 bytes of `mac`. */
  readonly macBytes: readonly number[];
  readonly linkLocal: string;
  readonly timers: Timers;
  readonly arp = new Arp(this);
  readonly discovery = new Discovery(this);
  readonly neighbours = new NeighbourTable(this);
  readonly pathMtus: PathMtus;
  readonly tcp = new Tcp(this);
  readonly dhcp = new DhcpClient(this);
  readonly reassembly: Reassembly;
  readonly usedPorts = new UsedPorts();
  settings: PcSettings;
  /** Text for the console that was not shown yet. */
  output = '';
  hasChanged = false;
  #tasks: Map<string, PcTask> | undefined;
  #nextPacketId = Math.floor(Math.random() * 0x10000);
  #loopDepth = 0;
  readonly #send: Pick<PcOptions, 'send'>;

  constructor(mac: string, settings: PcSettings, timers: Timers, options: Pick<PcOptions, 'send'>) {
    this.mac = mac;
    this.macBytes = [...macBytes(mac)];
    this.linkLocal = eui64('fe80::', mac);
    this.settings = settings;
    this.timers = timers;
    this.#send = options;
    this.pathMtus = new PathMtus(timers);
    this.reassembly = new Reassembly(timers);
  }

  /** Shows text at the console. */
  print(text: string): void {
    this.output += text;
  }

  get tasks(): Iterable<PcTask> {
    return this.#tasks?.values() ?? [];
  }

  /** A task receives packets, errors and timers until it is cleared; its timers are named `task KEY …`. */
  setTask(key: string, task: PcTask): void {
    this.#tasks ??= new Map();
    this.#tasks.set(key, task);
  }

  clearTask(key: string): void {
    this.#tasks?.delete(key);
    if (this.#tasks?.size === 0) this.#tasks = undefined;
  }

  /** Whether a task takes the packet. */
  offer(packet: Packet): boolean {
    for (const task of this.tasks) if (task.onPacket?.(packet)) return true;
    return false;
  }

  /** Asks for the MAC address of a neighbour. */
  sendRequest(address: string): void {
    if (isIp6(address)) this.discovery.solicit(address);
    else this.arp.request(address);
  }

  /** Sends a packet to a neighbour whose address is known. */
  deliver(packet: Packet, mac: string): void {
    for (const task of this.tasks) task.onSent?.(packet);
    this.#transmit(packet, macBytes(mac));
  }

  /** A neighbour does not answer. */
  onUnreachable(packets: readonly Packet[]): void {
    for (const packet of packets) for (const task of this.tasks) task.onUnreachable?.(packet);
  }

  change(patch: { readonly [K in keyof PcSettings]?: PcSettings[K] | undefined }): void {
    const entries = Object.entries({ ...this.settings, ...patch }).filter(([, value]) => value !== undefined);
    this.settings = Object.fromEntries(entries) as PcSettings;
    this.hasChanged = true;
  }

  isOwn(address: string): boolean {
    const { ip4, ip6 } = this.settings;
    return address === ip4?.address || address === ip6?.address || isLoopback(address) || address === this.linkLocal;
  }

  receive(frame: Uint8Array): void {
    if (frame.length < 14) return;
    const isForMe = startsWith(frame, this.macBytes);
    this.#dump(frame, isForMe);
    // A group address, or its own.
    if (!isForMe && ((frame[0] ?? 0) & 1) === 0) return;
    const type = u16(frame, 12);
    const payload = frame.subarray(14);
    if (type === etherTypes.arp) {
      this.arp.receive(payload);
      return;
    }
    const packet = readPacket(type, payload);
    if (!packet || !this.#accepts(packet.dst)) return;
    const whole = this.reassembly.add(packet);
    if (whole) this.#deliver(whole);
  }

  /** The own address for packets to `dst`. */
  sourceFor(dst: string): string | undefined {
    if (isLoopback(dst) || this.isOwn(dst)) return dst;
    if (!isIp6(dst)) return this.settings.ip4?.address;
    return isLinkLocal(dst) || dst.startsWith('ff02:') ? this.linkLocal : (this.settings.ip6?.address ?? this.linkLocal);
  }

  /** Sends a packet that has its source address; says why it cannot. */
  route(packet: Packet): SendFailure | undefined {
    const { dst } = packet;
    if (this.isOwn(dst)) this.#loop(packet);
    else if (isMulticast(dst)) this.#transmit(packet, multicastMac(dst));
    else if (this.#isBroadcast(dst)) this.#transmit(packet, new Uint8Array(6).fill(0xff));
    else {
      const hop = this.#nextHop(dst);
      if (hop === undefined) return 'no_gateway';
      this.neighbours.send(hop, packet);
    }
    return undefined;
  }

  /** Why packets to `dst` cannot be sent. */
  findFailure(dst: string): SendFailure | undefined {
    if (this.sourceFor(dst) === undefined) return 'no_address';
    const isDirect = this.isOwn(dst) || isMulticast(dst) || this.#isBroadcast(dst);
    return isDirect || this.#nextHop(dst) !== undefined ? undefined : 'no_gateway';
  }

  #nextHop(dst: string): string | undefined {
    const { ip4, ip6, router6 } = this.settings;
    const of = isIp6(dst) ? ip6 : ip4;
    if (isLinkLocal(dst) || (of && isInSubnet(dst, of.address, of.prefix))) return dst;
    return of?.gateway ?? (isIp6(dst) ? router6?.address : undefined);
  }

  #isBroadcast(dst: string): boolean {
    const { ip4 } = this.settings;
    if (isIp6(dst)) return false;
    return dst === '255.255.255.255' || (ip4 !== undefined && ip4.prefix < 31 && isLastOf(dst, ip4.address, ip4.prefix));
  }

  sendFrame(to: Uint8Array, type: number, payload: Uint8Array): void {
    const frame = writeFrame(to, this.macBytes, type, payload);
    this.#dump(frame, true);
    this.#send.send(frame);
  }

  /** Largest packet to `dst`. */
  mtuFor(dst: string): number {
    const { mtu, mtu6 } = this.settings;
    const own = isIp6(dst) ? Math.max(Math.min(mtu, mtu6 ?? mtu), smallestMtu6) : mtu;
    return Math.min(own, this.pathMtus.find(dst) ?? own);
  }

  onTimer(name: string): void {
    const [kind = '', ...rest] = name.split(' ');
    if (kind === 'resolve') this.neighbours.onTimer(rest.join(' '));
    else if (kind === 'fragments') this.reassembly.onTimer();
    else if (kind === 'tcp') this.tcp.onTimer(rest.join(' '));
    else if (kind === 'dhcp') this.dhcp.onTimer(rest.join(' '));
    else if (kind === 'discovery') this.discovery.onTimer(rest.join(' '));
    else if (kind === 'task') this.#tasks?.get(rest[0] ?? '')?.onTimer(rest[1] ?? '');
  }

  onIcmpError(error: IcmpError): void {
    for (const task of this.tasks) if (task.onIcmpError?.(error)) return;
    this.tcp.onIcmpError(error);
  }

  #accepts(dst: string): boolean {
    if (this.isOwn(dst)) return !isLoopback(dst);
    if (isIp6(dst)) return dst === 'ff02::1' || this.#solicitedNodes().includes(dst);
    if (this.#isBroadcast(dst)) return true;
    // A DHCP server may answer to the address that it offers (RFC 2131, 4.1).
    return this.dhcp.isWaiting;
  }

  #solicitedNodes(): string[] {
    const { ip6 } = this.settings;
    return [this.linkLocal, ...(ip6 ? [ip6.address] : [])].map(solicitedNode);
  }

  #deliver(packet: ReceivedPacket): void {
    const { protocol } = packet;
    if (protocol === protocols.icmp || protocol === protocols.icmp6) receiveIcmp(this, packet);
    else if (protocol === protocols.udp) receiveUdp(this, packet);
    else if (protocol === protocols.tcp && !this.offer(packet)) this.tcp.receive(packet);
  }

  #loop(packet: Packet): void {
    if (this.#loopDepth === deepestLoop) return;
    this.#loopDepth += 1;
    try {
      this.#deliver({ ...packet, datagram: writePackets(packet, 0x10000 + 40, 0)[0] ?? new Uint8Array() });
    } finally {
      this.#loopDepth -= 1;
    }
  }

  #transmit(packet: Packet, to: Uint8Array): void {
    this.#nextPacketId = (this.#nextPacketId + 1) & 0xffff;
    const type = isIp6(packet.dst) ? etherTypes.ip6 : etherTypes.ip4;
    for (const bytes of writePackets(packet, this.mtuFor(packet.dst), this.#nextPacketId)) this.sendFrame(to, type, bytes);
  }

  #dump(frame: Uint8Array, isOwn: boolean): void {
    const { dump } = this.settings;
    if (dump && (isOwn || dump.includes('all'))) this.print(describeFrame(frame, dump));
  }
}

const lifetimeMs = 600_000;
const mostEntries = 64;
/** RFC 791, 3.2 (what every host takes) and RFC 8200, 5. Smaller values are ignored. */
const smallest = { ip4: 576, ip6: 1280 };

/** Path MTUs that routers have reported (RFC 1191, RFC 8201), for ten minutes each. */
class PathMtus {
  readonly #timers: Timers;
  #entries: Map<string, { mtu: number; until: number }> | undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  find(dst: string): number | undefined {
    const entry = this.#entries?.get(dst);
    return entry && entry.until > this.#timers.now() ? entry.mtu : undefined;
  }

  learn(dst: string, mtu: number): void {
    this.#entries ??= new Map();
    const [oldest] = this.#entries.keys();
    if (this.#entries.size === mostEntries && oldest !== undefined) this.#entries.delete(oldest);
    this.restore({ dst, mtu: Math.max(mtu, isIp6(dst) ? smallest.ip6 : smallest.ip4), remainingMs: lifetimeMs });
  }

  restore({ dst, mtu, remainingMs }: { dst: string; mtu: number; remainingMs: number }): void {
    this.#entries ??= new Map();
    this.#entries.set(dst, { mtu, until: this.#timers.now() + remainingMs });
  }

  state(): { dst: string; mtu: number; remainingMs: number }[] {
    const now = this.#timers.now();
    return [...(this.#entries ?? [])].map(([dst, { mtu, until }]) => ({ dst, mtu, remainingMs: until - now }));
  }
}
