/**
 * TCP (RFC 9293) for a PC's few needs: it accepts connections at every port, as vpcs does, echoes at port 7 and discards elsewhere; commands
 * and probes connect. One segment is in flight at a time. Connections, their buffers and their retransmissions are bounded.
 */
import { isIp6 } from './addresses.ts';
import type { PcHost } from './host.ts';
import type { IcmpError } from './icmp.ts';
import { be16, be32, type Packet, protocols, transportChecksum, u16, u32, withChecksum } from './packet.ts';
import { randomPort } from './udp.ts';

export const tcpFlags = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16 } as const;
const echoPort = 7;
const limits = { accepted: 64, connected: 64, window: 8000, tries: 5 };
const retryMs = 1000;
const longestRetryMs = 4000;
const defaultMss = 536;

export type TcpOutcome = 'closed' | 'reset' | 'timeout' | IcmpError;

/** Follows a connection that a command or a probe opened. */
export interface TcpUser {
  onOpen(ttl: number): void;
  onData(bytes: Uint8Array): void;
  /** All that was sent has arrived. */
  onAcked(ttl: number): void;
  onEnd(end: TcpOutcome, ttl: number): void;
}

interface TcpConnection {
  readonly local: { readonly address: string; readonly port: number };
  readonly remote: { readonly address: string; readonly port: number };
  readonly ttl: number;
  phase: 'connecting' | 'accepting' | 'open';
  /** Sequence number of the first byte that is not acknowledged. */
  sendNext: number;
  receiveNext: number;
  /** Bytes that are not acknowledged yet; `inFlight` of them are sent. */
  buffer: Uint8Array;
  inFlight: number;
  /** State of this end's FIN. */
  fin: 'none' | 'wanted' | 'sent' | 'acked';
  hasPeerEnded: boolean;
  /** Limits of the other side: bytes ahead of its acknowledgement, and bytes of a segment. */
  readonly peer: { window: number; mss: number };
  tries: number;
}

interface TcpSegment {
  readonly sport: number;
  readonly dport: number;
  readonly sequence: number;
  readonly acknowledged: number;
  readonly flags: number;
  readonly window: number;
  readonly mss: number | undefined;
  readonly data: Uint8Array;
}

export const keyOf = ({ local, remote }: Pick<TcpConnection, 'local' | 'remote'>) =>
  `${local.address} ${local.port} ${remote.address} ${remote.port}`;
/** Positive: `a` comes after `b`. */
const distance = (a: number, b: number) => (a - b) | 0;
const plus = (sequence: number, count: number) => (sequence + count) >>> 0;

export class Tcp {
  readonly #host: PcHost;
  #connections: Map<string, TcpConnection> | undefined;
  #users: Map<string, TcpUser> | undefined;

  constructor(host: PcHost) {
    this.#host = host;
  }

  /** The key of the new connection; undefined when there are too many, or no address to connect from. */
  connect(
    address: string,
    port: number,
    user: TcpUser,
    from: { readonly port?: number | undefined; readonly ttl?: number } = {},
  ): string | undefined {
    const src = this.#host.sourceFor(address);
    if (src === undefined || (this.#users?.size ?? 0) >= limits.connected) return undefined;
    const [local, remote] = [
      { address: src, port: from.port ?? randomPort() },
      { address, port },
    ];
    const connection = { ...newConnection(local, remote), phase: 'connecting' as const, ttl: from.ttl ?? 64 };
    const key = this.restore(connection);
    this.attach(key, user);
    this.#retransmit(connection);
    return key;
  }

  attach(key: string, user: TcpUser): void {
    this.#users ??= new Map();
    this.#users.set(key, user);
  }

  send(key: string, bytes: Uint8Array): void {
    const connection = this.#connections?.get(key);
    if (connection?.fin !== 'none' || connection.buffer.length + bytes.length > limits.window * 8) return;
    connection.buffer = Uint8Array.from([...connection.buffer, ...bytes]);
    this.#flush(connection);
  }

  /** Closes after all that was sent. */
  close(key: string): void {
    const connection = this.#connections?.get(key);
    if (connection?.fin !== 'none') return;
    connection.fin = 'wanted';
    this.#flush(connection);
  }

  /** Ends at once and tells the other side, but not the user. */
  abort(key: string): void {
    const connection = this.#connections?.get(key);
    this.#users?.delete(key);
    if (!connection) return;
    if (connection.phase === 'open') this.#write(connection, tcpFlags.rst | tcpFlags.ack);
    this.#remove(connection);
  }

  receive(packet: Packet): void {
    const segment = readSegment(packet);
    if (!segment || !this.#host.isOwn(packet.dst)) return;
    const [local, remote] = [
      { address: packet.dst, port: segment.dport },
      { address: packet.src, port: segment.sport },
    ];
    const connection = this.#connections?.get(keyOf({ local, remote }));
    if (connection) this.#onSegment(connection, segment, packet.ttl);
    else if (
      (segment.flags & (tcpFlags.syn | tcpFlags.ack | tcpFlags.rst)) === tcpFlags.syn &&
      !this.#host.usedPorts.has(local.port)
    )
      this.#accept(newConnection(local, remote), segment);
    else if ((segment.flags & tcpFlags.rst) === 0) this.#refuse(newConnection(local, remote), segment);
  }

  onTimer(key: string): void {
    const connection = this.#connections?.get(key);
    if (!connection) return;
    if (connection.tries >= (connection.phase === 'open' ? limits.tries : 3)) this.#end(connection, 'timeout', 0);
    else this.#retransmit(connection);
  }

  /** Hard errors end an attempt to connect (RFC 1122, 4.2.3.9). */
  onIcmpError(error: IcmpError): void {
    const { about } = error;
    if (about.protocol !== protocols.tcp) return;
    const local = { address: about.src, port: u16(about.payload, 0) };
    const remote = { address: about.dst, port: u16(about.payload, 2) };
    const connection = this.#connections?.get(keyOf({ local, remote }));
    if (connection?.phase === 'connecting') this.#end(connection, error, error.ttl);
    else if (connection && connection.inFlight > 0) connection.peer.mss = Math.min(connection.peer.mss, this.#mss(about.dst));
  }

  connections(): readonly TcpConnection[] {
    return [...(this.#connections?.values() ?? [])];
  }

  restore(connection: TcpConnection): string {
    const key = keyOf(connection);
    this.#connections ??= new Map();
    this.#connections.set(key, connection);
    return key;
  }

  #accept(connection: TcpConnection, segment: TcpSegment): void {
    const accepted = this.connections().filter((each) => !this.#users?.has(keyOf(each)));
    const [oldest] = accepted;
    if (accepted.length >= limits.accepted && oldest) this.#remove(oldest);
    connection.receiveNext = plus(segment.sequence, 1);
    connection.peer.window = segment.window;
    connection.peer.mss = Math.min(segment.mss ?? defaultMss, this.#mss(connection.remote.address));
    this.restore(connection);
    this.#retransmit(connection);
  }

  #onSegment(connection: TcpConnection, segment: TcpSegment, ttl: number): void {
    const { flags, acknowledged, sequence } = segment;
    const hasAck = (flags & tcpFlags.ack) !== 0;
    if (connection.phase === 'connecting') {
      if (!hasAck || acknowledged !== plus(connection.sendNext, 1)) return;
      if (flags & tcpFlags.rst) this.#end(connection, 'reset', ttl);
      else if (flags & tcpFlags.syn) this.#opened(connection, segment, ttl);
      return;
    }
    if (flags & tcpFlags.rst) {
      if (sequence === connection.receiveNext) this.#end(connection, 'reset', ttl);
      return;
    }
    if (flags & tcpFlags.syn) {
      // The answer to this SYN was lost (RFC 9293, 3.10.7.4 otherwise: a challenge).
      this.#write(connection, connection.phase === 'accepting' ? tcpFlags.syn | tcpFlags.ack : tcpFlags.ack);
      return;
    }
    if (connection.phase === 'accepting') {
      if (!hasAck || acknowledged !== plus(connection.sendNext, 1)) return;
      this.#progress(connection, 1);
      connection.phase = 'open';
    }
    const isNew = this.#takeData(connection, segment);
    if (hasAck) this.#onAck(connection, segment, ttl);
    if (!this.#connections?.has(keyOf(connection))) return;
    this.#flush(connection);
    if (isNew) this.#write(connection, tcpFlags.ack);
    if (connection.hasPeerEnded && connection.fin === 'acked') this.#end(connection, 'closed', ttl);
  }

  #opened(connection: TcpConnection, segment: TcpSegment, ttl: number): void {
    connection.receiveNext = plus(segment.sequence, 1);
    connection.peer.mss = Math.min(segment.mss ?? defaultMss, this.#mss(connection.remote.address));
    connection.peer.window = segment.window;
    connection.phase = 'open';
    this.#progress(connection, 1);
    this.#write(connection, tcpFlags.ack);
    this.#users?.get(keyOf(connection))?.onOpen(ttl);
  }

  /** Whether the segment asks for an acknowledgement. */
  #takeData(connection: TcpConnection, { sequence, data, flags, dport }: TcpSegment): boolean {
    const skipped = distance(connection.receiveNext, sequence);
    const hasFin = (flags & tcpFlags.fin) !== 0;
    if (data.length === 0 && !hasFin) return skipped !== 0;
    if (skipped < 0 || skipped > data.length || connection.hasPeerEnded) return true;
    const room = limits.window - connection.buffer.length;
    const fresh = data.subarray(skipped, skipped + room);
    connection.receiveNext = plus(connection.receiveNext, fresh.length);
    const user = this.#users?.get(keyOf(connection));
    if (fresh.length > 0 && user) user.onData(new Uint8Array(fresh));
    else if (dport === echoPort && connection.fin === 'none') connection.buffer = Uint8Array.from([...connection.buffer, ...fresh]);
    if (hasFin && skipped + fresh.length === data.length) {
      connection.receiveNext = plus(connection.receiveNext, 1);
      connection.hasPeerEnded = true;
      if (connection.fin === 'none') connection.fin = 'wanted';
    }
    return true;
  }

  #onAck(connection: TcpConnection, { acknowledged, window }: TcpSegment, ttl: number): void {
    connection.peer.window = window;
    const sent = connection.inFlight + (connection.fin === 'sent' ? 1 : 0);
    const count = distance(acknowledged, connection.sendNext);
    if (count <= 0 || count > sent) return;
    if (count > connection.inFlight) connection.fin = 'acked';
    const bytes = Math.min(count, connection.inFlight);
    connection.buffer = connection.buffer.slice(bytes);
    connection.inFlight -= bytes;
    this.#progress(connection, count);
    if (connection.inFlight > 0) this.#setTimer(connection);
    const isFinAcked = (connection.fin as string) === 'acked';
    if (connection.buffer.length === 0 && bytes > 0 && !isFinAcked) this.#users?.get(keyOf(connection))?.onAcked(ttl);
  }

  #progress(connection: TcpConnection, count: number): void {
    connection.sendNext = plus(connection.sendNext, count);
    connection.tries = 0;
    this.#host.timers.clear(`tcp ${keyOf(connection)}`);
  }

  /** Sends the next segment unless one is in flight. */
  #flush(connection: TcpConnection): void {
    const isWaiting = connection.phase !== 'open' || connection.inFlight > 0 || connection.fin === 'sent';
    const isDone = connection.buffer.length === 0 && connection.fin !== 'wanted';
    if (!isWaiting && !isDone) this.#retransmit(connection);
  }

  #retransmit(connection: TcpConnection): void {
    connection.tries += 1;
    this.#setTimer(connection);
    if (connection.phase !== 'open') {
      this.#write(connection, tcpFlags.syn | (connection.phase === 'accepting' ? tcpFlags.ack : 0));
      return;
    }
    // A single byte asks whether a closed window has opened (RFC 9293, 3.8.6.1).
    connection.inFlight ||= Math.min(connection.buffer.length, connection.peer.mss, connection.peer.window || 1);
    const bytes = connection.buffer.subarray(0, Math.min(connection.inFlight, connection.peer.mss));
    connection.inFlight = bytes.length;
    const isLast = bytes.length === connection.buffer.length && (connection.fin === 'wanted' || connection.fin === 'sent');
    if (isLast) connection.fin = 'sent';
    this.#write(connection, tcpFlags.ack | (bytes.length ? tcpFlags.psh : 0) | (isLast ? tcpFlags.fin : 0), bytes);
  }

  #setTimer(connection: TcpConnection): void {
    const ms = Math.min(retryMs * 2 ** Math.max(connection.tries - 1, 0), longestRetryMs);
    this.#host.timers.set(`tcp ${keyOf(connection)}`, connection.phase === 'connecting' ? retryMs : ms);
  }

  #write(connection: TcpConnection, flags: number, data: Uint8Array = new Uint8Array()): void {
    const { local, remote, ttl } = connection;
    const isSyn = (flags & tcpFlags.syn) !== 0;
    // A segment that follows an unacknowledged one has the number after it.
    const ahead = isSyn || data.length > 0 || flags & tcpFlags.fin ? 0 : connection.inFlight + (connection.fin === 'sent' ? 1 : 0);
    const window = Math.max(limits.window - connection.buffer.length, 0);
    const numbers = { sequence: plus(connection.sendNext, ahead), acknowledged: flags & tcpFlags.ack ? connection.receiveNext : 0 };
    const mss = isSyn ? this.#mss(remote.address) : undefined;
    this.#host.route(
      tcpPacket(
        { src: local.address, dst: remote.address, ttl },
        { sport: local.port, dport: remote.port, flags, window, mss, data, ...numbers },
      ),
    );
  }

  #refuse(connection: TcpConnection, { flags, acknowledged, sequence, data }: TcpSegment): void {
    const hasAck = (flags & tcpFlags.ack) !== 0;
    connection.sendNext = hasAck ? acknowledged : 0;
    connection.receiveNext = plus(sequence, data.length + (flags & tcpFlags.syn ? 1 : 0) + (flags & tcpFlags.fin ? 1 : 0));
    this.#write(connection, hasAck ? tcpFlags.rst : tcpFlags.rst | tcpFlags.ack);
  }

  #end(connection: TcpConnection, end: TcpOutcome, ttl: number): void {
    const key = keyOf(connection);
    const user = this.#users?.get(key);
    this.#remove(connection);
    user?.onEnd(end, ttl);
  }

  #remove(connection: TcpConnection): void {
    const key = keyOf(connection);
    this.#host.timers.clear(`tcp ${key}`);
    this.#connections?.delete(key);
    this.#users?.delete(key);
  }

  #mss(address: string): number {
    return this.#host.mtuFor(address) - (isIp6(address) ? 60 : 40);
  }
}

function newConnection(local: TcpConnection['local'], remote: TcpConnection['remote']): TcpConnection {
  return {
    ...{ local, remote, ttl: 64, phase: 'accepting', sendNext: Math.floor(Math.random() * 2 ** 32), receiveNext: 0 },
    ...{ buffer: new Uint8Array(), inFlight: 0, fin: 'none', hasPeerEnded: false, peer: { window: 0, mss: defaultMss }, tries: 0 },
  };
}

export function readSegment({ src, dst, protocol, payload }: Packet): TcpSegment | undefined {
  const head = ((payload[12] ?? 0) >> 4) * 4;
  if (protocol !== protocols.tcp || payload.length < 20 || head < 20 || head > payload.length) return undefined;
  if (transportChecksum({ src, dst, protocol, payload }) !== 0) return undefined;
  return {
    ...{ sport: u16(payload, 0), dport: u16(payload, 2), sequence: u32(payload, 4), acknowledged: u32(payload, 8) },
    ...{
      flags: payload[13] ?? 0,
      window: u16(payload, 14),
      mss: readMss(payload.subarray(20, head)),
      data: payload.subarray(head),
    },
  };
}

function readMss(options: Uint8Array): number | undefined {
  for (let at = 0; at + 3 < options.length && options[at] !== 0; ) {
    if (options[at] === 2 && options[at + 1] === 4) return Math.max(u16(options, at + 2), 64);
    at += options[at] === 1 ? 1 : Math.max(options[at + 1] ?? 0, 2);
  }
  return undefined;
}

export function tcpPacket(to: Pick<Packet, 'src' | 'dst' | 'ttl'>, segment: TcpSegment): Packet {
  const { sport, dport, sequence, acknowledged, flags, window, mss, data } = segment;
  const options = mss === undefined ? [] : [2, 4, ...be16(mss)];
  const head = [...be16(sport), ...be16(dport), ...be32(sequence), ...be32(acknowledged), (5 + options.length / 4) << 4, flags];
  const payload = new Uint8Array(20 + options.length + data.length);
  payload.set([...head, ...be16(window), 0, 0, 0, 0, ...options]);
  payload.set(data, 20 + options.length);
  return withChecksum({ src: to.src, dst: to.dst, ttl: to.ttl, protocol: protocols.tcp, payload }, 16);
}
