/** A ping: echo requests of ICMP, datagrams of UDP, single segments of TCP with given flags, or whole TCP connections. */
import { isIp6, isMulticast } from './addresses.ts';
import { echoPacket, type IcmpError, icmp6Types, icmpTypes } from './icmp.ts';
import { type Packet, protocols, u16, u32, viewOf } from './packet.ts';
import { TargetTask } from './target-task.ts';
import { type TcpOutcome, type TcpUser, tcpPacket } from './tcp.ts';
import { randomPort, udpPacket } from './udp.ts';

export interface PingSpec {
  readonly to: string;
  /** `flags`: single TCP segments. */
  readonly mode: 'icmp' | 'udp' | 'tcp' | 'flags';
  /** 0: until it is interrupted. */
  readonly count: number;
  readonly size: number;
  readonly ttl: number;
  /** 0: one of the dynamic ports. */
  readonly sport: number;
  readonly dport: number;
  readonly flags: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

type TcpStage = 'Connect' | 'SendData' | 'Close';
export type PingEvent =
  | {
      readonly kind: 'reply';
      readonly sequence: number;
      readonly ms: number;
      readonly ttl: number;
      readonly from: string;
      readonly stage?: TcpStage;
    }
  | { readonly kind: 'error'; readonly sequence: number; readonly ms: number; readonly error: IcmpError }
  | { readonly kind: 'timeout' | 'reset'; readonly sequence: number; readonly stage?: TcpStage };

/** State of a running ping that is kept. */
export interface PingPosition {
  readonly to: string;
  readonly sequence: number;
  readonly answered: number;
  readonly id: number;
  readonly sport: number;
  /** Source port of the last segment with flags. */
  readonly lastPort: number;
  readonly sentAgoMs: number;
  readonly stage: TcpStage;
  readonly connection?: string;
}

export class PingTask extends TargetTask<PingEvent> implements TcpUser {
  readonly spec: PingSpec;
  sequence = 0;
  #answered = 0;
  #id = Math.floor(Math.random() * 0x10000);
  #sport: number;
  #lastPort = 0;
  #stage: TcpStage = 'Connect';
  #connection: string | undefined;

  constructor(of: { host: PingTask['host']; key: string; spec: PingSpec }, report: PingTask['report']) {
    super(of.host, of.key, report);
    this.spec = of.spec;
    this.#sport = of.spec.sport || randomPort();
  }

  begin(): void {
    const { count, size, mode, sport, dport, ttl } = this.spec;
    const dst = this.to;
    if (count > 0 && this.sequence >= count) {
      this.finish({ kind: 'end' });
      return;
    }
    this.sequence += 1;
    this.sentAt = this.host.timers.now();
    const src = this.host.sourceFor(dst);
    if (src === undefined) {
      this.finish({ kind: 'failed', failure: 'no_address' });
      return;
    }
    this.host.timers.set(this.timer('timeout'), this.spec.timeoutMs);
    if (mode === 'tcp') {
      this.#connect(src);
      return;
    }
    this.host.usedPorts.add(this.#sport);
    const packet =
      mode === 'icmp'
        ? echoPacket(dst, src, ttl, { id: this.#id, sequence: this.sequence & 0xffff, size })
        : mode === 'udp'
          ? udpPacket({ src, dst, ttl }, this.#sport, dport, this.#data())
          : this.#segment(src);
    const failure = this.host.route(packet);
    if (failure) this.finish({ kind: 'failed', failure });
    if (sport === 0 && mode === 'flags') this.#sport = randomPort();
  }

  onSent(packet: Packet): void {
    if (packet.dst !== this.to || this.spec.mode === 'tcp') return;
    this.sentAt = this.host.timers.now();
    this.host.timers.set(this.timer('timeout'), this.spec.timeoutMs);
  }

  onUnreachable(packet: Packet): void {
    if (packet.dst !== this.to) return;
    if (this.#connection !== undefined) this.host.tcp.abort(this.#connection);
    if (this.#answered === 0 && this.sequence === 1) this.finish({ kind: 'unreachable' });
    else this.#outcome({ kind: 'timeout', sequence: this.sequence });
  }

  takes(packet: Packet): boolean {
    const { mode, dport, size } = this.spec;
    const { payload, src, protocol } = packet;
    if (src !== this.to && !isMulticast(this.to)) return false;
    if (mode === 'icmp') {
      const isReply = payload[0] === (isIp6(src) ? icmp6Types.reply : icmpTypes.reply) && u16(payload, 4) === this.#id;
      if (!isReply || (protocol !== protocols.icmp && protocol !== protocols.icmp6)) return false;
      if (u16(payload, 6) === (this.sequence & 0xffff)) this.#replied(packet);
      return true;
    }
    const wanted = { udp: protocols.udp, flags: protocols.tcp, tcp: 0 }[mode];
    if (protocol !== wanted || u16(payload, 0) !== dport) return false;
    if (mode === 'udp' && u16(payload, 2) !== this.#sport) return false;
    const isCurrent = mode === 'udp' ? size < 4 || u32(payload, 8) === this.sequence : u16(payload, 2) === this.#lastPort;
    if (isCurrent) this.#replied(packet);
    return isCurrent;
  }

  override onIcmpError(error: IcmpError): boolean {
    const { about } = error;
    if (this.spec.mode === 'tcp' || about.dst !== this.to) return false;
    const isEcho = this.spec.mode === 'icmp';
    const isOwn = isEcho ? u16(about.payload, 4) === this.#id : [this.#sport, this.#lastPort].includes(u16(about.payload, 0));
    const isCurrent = !isEcho || u16(about.payload, 6) === (this.sequence & 0xffff);
    if (isOwn && isCurrent) this.#outcome({ kind: 'error', sequence: this.sequence, ms: this.elapsedMs, error });
    return isOwn;
  }

  onEvent(timer: string): void {
    if (timer === 'next') this.begin();
    else if (this.spec.mode !== 'tcp' && !this.host.neighbours.isPending(this.to))
      this.#outcome({ kind: 'timeout', sequence: this.sequence });
  }

  onOpen(ttl: number): void {
    this.#reportStage('SendData', ttl);
    if (this.#connection !== undefined) this.host.tcp.send(this.#connection, this.#data());
  }

  onData(): void {}

  onAcked(ttl: number): void {
    if (this.#stage !== 'SendData' || this.#connection === undefined) return;
    this.#reportStage('Close', ttl);
    this.host.tcp.close(this.#connection);
  }

  onEnd(end: TcpOutcome, ttl: number): void {
    this.#connection = undefined;
    const [sequence, stage] = [this.sequence, this.#stage];
    if (end === 'closed') this.#outcome({ kind: 'reply', sequence, ms: this.elapsedMs, ttl, from: this.to, stage });
    else if (end === 'reset' || end === 'timeout') this.#outcome({ kind: end, sequence, stage });
    else this.#outcome({ kind: 'error', sequence, ms: this.elapsedMs, error: end });
  }

  position(): PingPosition {
    const connection = this.#connection === undefined ? {} : { connection: this.#connection };
    const sentAgoMs = this.host.timers.now() - this.sentAt;
    const { to, sequence } = this;
    return {
      to,
      sequence,
      answered: this.#answered,
      id: this.#id,
      sport: this.#sport,
      lastPort: this.#lastPort,
      sentAgoMs,
      stage: this.#stage,
      ...connection,
    };
  }

  /** Continues from there; its timers are set again by the host. */
  restore(position: PingPosition): void {
    this.to = position.to;
    this.sequence = position.sequence;
    this.#answered = position.answered;
    this.#id = position.id;
    this.#sport = position.sport;
    this.#lastPort = position.lastPort;
    this.sentAt = this.host.timers.now() - position.sentAgoMs;
    this.#stage = position.stage;
    this.#connection = position.connection;
    this.host.setTask(this.key, this);
    if (this.#connection !== undefined) this.host.tcp.attach(this.#connection, this);
  }

  override close(): void {
    super.close();
    if (this.#connection !== undefined) this.host.tcp.abort(this.#connection);
    this.#connection = undefined;
  }

  #connect(src: string): void {
    const { dport, sport, ttl } = this.spec;
    this.host.timers.clear(this.timer('timeout'));
    this.#stage = 'Connect';
    const failure = src === this.to ? undefined : this.host.findFailure(this.to);
    if (failure) {
      this.finish({ kind: 'failed', failure });
      return;
    }
    this.#connection = this.host.tcp.connect(this.to, dport, this, { port: sport || undefined, ttl });
    if (this.#connection === undefined) this.#outcome({ kind: 'timeout', sequence: this.sequence, stage: 'Connect' });
  }

  #reportStage(next: TcpStage, ttl: number): void {
    this.report({ kind: 'reply', sequence: this.sequence, ms: this.elapsedMs, ttl, from: this.to, stage: this.#stage });
    this.#stage = next;
    this.sentAt = this.host.timers.now();
  }

  #segment(src: string): Packet {
    this.#lastPort = this.#sport;
    const { dport, flags, ttl } = this.spec;
    const sequence = Math.floor(Math.random() * 2 ** 32);
    const segment = {
      sport: this.#sport,
      dport,
      sequence,
      acknowledged: 0,
      flags,
      window: 8000,
      mss: undefined,
      data: new Uint8Array(),
    };
    return tcpPacket({ src, dst: this.to, ttl }, segment);
  }

  #data(): Uint8Array {
    const data = new Uint8Array(this.spec.size).map((_, at) => at & 0xff);
    if (data.length >= 4) viewOf(data).setUint32(0, this.sequence);
    return data;
  }

  #replied({ ttl, src }: Packet): void {
    // A second answer to the same request, or one after its timeout.
    if (!this.host.timers.has(this.timer('timeout'))) return;
    this.#outcome({ kind: 'reply', sequence: this.sequence, ms: this.elapsedMs, ttl, from: src });
  }

  #outcome(event: PingEvent): void {
    this.host.timers.clear(this.timer('timeout'));
    if (event.kind === 'reply' || event.kind === 'reset') this.#answered += 1;
    this.report(event);
    const { count, intervalMs } = this.spec;
    if (count > 0 && this.sequence >= count) this.finish({ kind: 'end' });
    else this.host.timers.set(this.timer('next'), Math.max(intervalMs - (this.host.timers.now() - this.sentAt), 0));
  }
}
