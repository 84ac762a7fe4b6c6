/** A trace: three packets for each TTL, which routers and the target answer. */
import { isIp6 } from './addresses.ts';
import { echoPacket, type IcmpError, icmp6Types, icmpTypes } from './icmp.ts';
import { type Packet, protocols, u16 } from './packet.ts';
import { TargetTask } from './target-task.ts';
import { tcpFlags, tcpPacket } from './tcp.ts';
import { randomPort, udpPacket } from './udp.ts';

const packetsPerHop = 3;
/** First port of traceroute's datagrams. */
const firstPort = 33_434;
const dataBytes = 64;

export interface TraceSpec {
  readonly to: string;
  readonly mode: 'icmp' | 'udp' | 'tcp';
  readonly hops: number;
  readonly timeoutMs: number;
}

export type TraceEvent =
  | {
      readonly kind: 'hop';
      readonly hop: number;
      readonly index: number;
      readonly from?: string;
      readonly ms?: number;
      readonly isNew?: boolean;
    }
  | { readonly kind: 'begin' | 'line' | 'arrived' }
  | { readonly kind: 'error'; readonly hop: number; readonly index: number; readonly ms: number; readonly error: IcmpError };

export interface TracePosition {
  readonly to: string;
  readonly sent: number;
  readonly isAnswered: boolean;
  readonly hasArrived: boolean;
  readonly port: number;
  readonly sentAgoMs: number;
}

export class TraceTask extends TargetTask<TraceEvent> {
  readonly spec: TraceSpec;
  #sent = 0;
  /** Whether the current packet has its outcome. */
  #isAnswered = false;
  #hasArrived = false;
  /** Address of this hop's last answer. */
  #from: string | undefined;
  /** Source port, or identifier of echo requests. */
  #port = randomPort();

  constructor(of: { host: TraceTask['host']; key: string; spec: TraceSpec }, report: TraceTask['report']) {
    super(of.host, of.key, report);
    this.spec = of.spec;
  }

  begin(): void {
    this.report({ kind: 'begin' });
    this.host.usedPorts.add(this.#port);
    this.#next();
  }

  onSent(packet: Packet): void {
    if (packet.dst !== this.to) return;
    this.sentAt = this.host.timers.now();
    this.host.timers.set(this.timer('timeout'), this.spec.timeoutMs);
  }

  onUnreachable(packet: Packet): void {
    if (packet.dst === this.to) this.finish({ kind: 'unreachable' });
  }

  takes({ src, protocol, payload }: Packet): boolean {
    if (src !== this.to) return false;
    const { mode } = this.spec;
    const isEcho = protocol === protocols.icmp || protocol === protocols.icmp6;
    const isOwn =
      mode === 'icmp'
        ? isEcho && payload[0] === (isIp6(src) ? icmp6Types.reply : icmpTypes.reply) && u16(payload, 4) === this.#port
        : protocol === protocols[mode] && u16(payload, 2) === this.#port;
    if (!isOwn) return false;
    const isCurrent = mode === 'icmp' ? u16(payload, 6) === this.#sent : u16(payload, 0) === this.#portOf(this.#sent);
    if (isCurrent) this.#answered(src, true);
    return true;
  }

  override onIcmpError(error: IcmpError): boolean {
    const { about } = error;
    const isEcho = this.spec.mode === 'icmp';
    if (about.dst !== this.to || u16(about.payload, isEcho ? 4 : 0) !== this.#port) return false;
    if (u16(about.payload, isEcho ? 6 : 2) !== (isEcho ? this.#sent : this.#portOf(this.#sent)) || this.#isAnswered) return true;
    if (error.type === (isIp6(about.dst) ? icmp6Types.expired : icmpTypes.expired)) this.#answered(error.from, false);
    else {
      this.report({ kind: 'error', hop: this.#hop, index: (this.#sent - 1) % packetsPerHop, ms: this.elapsedMs, error });
      this.finish({ kind: error.from === this.to ? 'arrived' : 'end' });
    }
    return true;
  }

  onEvent(): void {
    if (!this.host.neighbours.isPending(this.to)) this.#answered(undefined, false);
  }

  position(): TracePosition {
    const sentAgoMs = this.host.timers.now() - this.sentAt;
    return {
      to: this.to,
      sent: this.#sent,
      isAnswered: this.#isAnswered,
      hasArrived: this.#hasArrived,
      port: this.#port,
      sentAgoMs,
    };
  }

  restore(position: TracePosition): void {
    this.to = position.to;
    this.#sent = position.sent;
    this.#isAnswered = position.isAnswered;
    this.#hasArrived = position.hasArrived;
    this.#port = position.port;
    this.sentAt = this.host.timers.now() - position.sentAgoMs;
    this.host.setTask(this.key, this);
  }

  get #hop(): number {
    return Math.ceil(this.#sent / packetsPerHop);
  }

  /** TCP goes to one port, so that firewalls treat all alike. */
  #portOf(sent: number): number {
    return this.spec.mode === 'tcp' ? 7 : firstPort + sent - 1;
  }

  #answered(from: string | undefined, isTarget: boolean): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#hasArrived ||= isTarget;
    this.host.timers.clear(this.timer('timeout'));
    const index = (this.#sent - 1) % packetsPerHop;
    if (index === 0) this.#from = undefined;
    const isNew = from !== this.#from;
    this.#from = from ?? this.#from;
    this.report({ kind: 'hop', hop: this.#hop, index, ...(from === undefined ? {} : { from, ms: this.elapsedMs, isNew }) });
    const isLast = index === packetsPerHop - 1;
    if (isLast) this.report({ kind: 'line' });
    if (isLast && this.#hasArrived) this.finish({ kind: 'arrived' });
    else if (isLast && this.#hop >= this.spec.hops) this.finish({ kind: 'end' });
    else this.#next();
  }

  #next(): void {
    this.#sent += 1;
    this.#isAnswered = false;
    this.sentAt = this.host.timers.now();
    const src = this.host.sourceFor(this.to);
    const failure = src === undefined ? 'no_address' : this.host.findFailure(this.to);
    if (src === undefined || failure) {
      this.finish({ kind: 'failed', failure: failure ?? 'no_address' });
      return;
    }
    this.host.timers.set(this.timer('timeout'), this.spec.timeoutMs);
    this.host.route(this.#packet({ src, dst: this.to, ttl: this.#hop }));
  }

  #packet(to: { src: string; dst: string; ttl: number }): Packet {
    const dport = this.#portOf(this.#sent);
    if (this.spec.mode === 'icmp')
      return echoPacket(to.dst, to.src, to.ttl, { id: this.#port, sequence: this.#sent, size: dataBytes });
    if (this.spec.mode === 'udp') return udpPacket(to, this.#port, dport, new Uint8Array(dataBytes));
    const numbers = { sequence: this.#sent, acknowledged: 0, window: 8000, mss: undefined };
    return tcpPacket(to, { sport: this.#port, dport, flags: tcpFlags.syn, data: new Uint8Array(), ...numbers });
  }
}
