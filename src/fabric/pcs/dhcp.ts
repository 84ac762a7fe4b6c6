/** DHCP client (RFC 2131): obtains a lease when a command asks for one, renews it by itself, and gives the address up when it has ended. */
import { type DhcpAnswer, dhcpTypes, readDhcp, writeDhcp } from './dhcp-message.ts';
import type { PcHost } from './host.ts';
import { udpPacket } from './udp.ts';

/** vpcs sends three requests and gives up after 13 s. */
const tries = 3;
const pauseMs = 4300;
/** RFC 2131, 4.4.5: between attempts to renew, at least. */
const shortestRenewalMs = 60_000;
/** Longest time that a timer of Node can wait. */
const longestTimerMs = 2 ** 31 - 1;

interface DhcpListener {
  onMessage(bytes: Uint8Array, type: number): void;
  onEnd(end: 'bound' | 'timeout' | 'refused'): void;
}
type DhcpPhase = 'idle' | 'selecting' | 'requesting' | 'renewing';

export class DhcpClient {
  readonly #host: PcHost;
  phase: DhcpPhase = 'idle';
  count = 0;
  id = 0;
  offered: string | undefined;
  server: string | undefined;
  /** Time at which the lease was obtained, by the clock. */
  leasedAt = 0;
  listener: DhcpListener | undefined;
  /** Content of the acknowledgement that was not applied yet. */
  answer: DhcpAnswer | undefined;

  constructor(host: PcHost) {
    this.#host = host;
  }

  get isWaiting(): boolean {
    return this.phase !== 'idle';
  }

  start(listener?: DhcpListener): void {
    this.stop();
    this.listener = listener;
    this.phase = 'selecting';
    this.id = Math.floor(Math.random() * 2 ** 32);
    this.onTimer('retry');
  }

  /** Stops asking; a lease remains. */
  stop(): void {
    Object.assign(this, { phase: 'idle', count: 0, offered: undefined, server: undefined, listener: undefined });
    this.#host.timers.clear('dhcp retry');
  }

  /** Tells the server that the address is free. */
  release(): void {
    const { ip4, lease } = this.#host.settings;
    if (!ip4 || !lease) return;
    this.#send({ type: dhcpTypes.release, server: lease.server, client: ip4.address }, lease.server);
    this.forget();
  }

  /** Tells the server that another host uses the address that it gave. */
  decline(address: string, server: string | undefined): void {
    this.#send({ type: dhcpTypes.decline, server, requested: address });
  }

  forget(): void {
    this.#host.timers.clear('dhcp renew');
    this.#host.change({ ip4: undefined, lease: undefined });
  }

  /** Uses the address of an acknowledgement. */
  apply(answer: DhcpAnswer): void {
    const { address, prefix, gateway, dns, domain, mtu, seconds, renewSeconds, rebindSeconds } = answer;
    const server = answer.server ?? '255.255.255.255';
    this.leasedAt = this.#host.timers.now();
    this.#host.change({
      ip4: { address, prefix, ...(gateway === undefined ? {} : { gateway }) },
      ...(dns.length ? { dns: [...dns] } : {}),
      ...(domain === undefined ? {} : { domain }),
      ...(mtu !== undefined && mtu >= 576 && mtu <= 9216 ? { mtu } : {}),
      lease: { server, seconds, renewSeconds, rebindSeconds, ageMs: 0 },
    });
    this.#watchLease();
  }

  /** Continues with the lease of the settings that the PC was made with. */
  resume(): void {
    this.leasedAt = this.#host.timers.now() - (this.#host.settings.lease?.ageMs ?? 0);
    this.#watchLease();
  }

  /** Sets the timer of the renewal; leases of 0xffffffff seconds never end. */
  #watchLease(): void {
    const { lease } = this.#host.settings;
    if (!lease || lease.seconds >= 0xffffffff) return;
    const age = this.#host.timers.now() - this.leasedAt;
    const next =
      age < lease.renewSeconds * 1000 ? lease.renewSeconds : age < lease.rebindSeconds * 1000 ? lease.rebindSeconds : lease.seconds;
    const pause = Math.max((next * 1000 - age) / (age < lease.renewSeconds * 1000 ? 1 : 2), shortestRenewalMs);
    const ms = Math.min(pause, Math.max(lease.seconds * 1000 - age, 1000), longestTimerMs);
    this.#host.timers.set('dhcp renew', ms);
  }

  onTimer(name: string): void {
    if (name === 'renew') this.#renew();
    else if (this.count >= tries) this.#end('timeout');
    else {
      this.count += 1;
      this.#host.timers.set('dhcp retry', pauseMs);
      if (this.phase === 'selecting') this.#send({ type: dhcpTypes.discover });
      else this.#send({ type: dhcpTypes.request, server: this.server, requested: this.offered });
    }
  }

  receive(data: Uint8Array): void {
    const answer = readDhcp(data, this.#host.macBytes);
    if (!answer || answer.id !== this.id) return;
    const { type, address } = answer;
    if (
      this.phase === 'selecting'
        ? type !== dhcpTypes.offer || address === '0.0.0.0'
        : type !== dhcpTypes.ack && type !== dhcpTypes.nak
    )
      return;
    this.listener?.onMessage(data, type);
    if (type === dhcpTypes.offer) {
      Object.assign(this, { phase: 'requesting', offered: address, server: answer.server, count: 0 });
      this.onTimer('retry');
      return;
    }
    const wasRenewing = this.phase === 'renewing';
    if (type === dhcpTypes.nak && wasRenewing) {
      this.forget();
      this.start();
      return;
    }
    this.answer = answer;
    if (type === dhcpTypes.ack && (wasRenewing || !this.listener)) this.apply(answer);
    this.#end(type === dhcpTypes.ack ? 'bound' : 'refused');
  }

  #renew(): void {
    const { ip4, lease } = this.#host.settings;
    if (!ip4 || !lease) return;
    const age = this.#host.timers.now() - this.leasedAt;
    if (age >= lease.seconds * 1000) {
      this.forget();
      this.start();
      return;
    }
    if (age < lease.renewSeconds * 1000) {
      this.#watchLease();
      return;
    }
    if (this.phase === 'idle' || this.phase === 'renewing') {
      this.phase = 'renewing';
      this.id = Math.floor(Math.random() * 2 ** 32);
      const isRebinding = age >= lease.rebindSeconds * 1000;
      this.#send({ type: dhcpTypes.request, client: ip4.address }, isRebinding ? undefined : lease.server);
    }
    this.#watchLease();
  }

  #end(end: 'bound' | 'timeout' | 'refused'): void {
    const { listener } = this;
    this.stop();
    listener?.onEnd(end);
  }

  /** Sends a message to a server, from the PC's address, or to all, from no address unless the lease is renewed. */
  #send(
    message: { type: number; server?: string | undefined; requested?: string | undefined; client?: string },
    to?: string,
  ): void {
    const { macBytes, settings } = this.#host;
    const data = writeDhcp({ ...message, id: this.id, mac: macBytes, name: settings.name });
    this.listener?.onMessage(data, message.type);
    this.#host.route(udpPacket({ src: message.client ?? '0.0.0.0', dst: to ?? '255.255.255.255', ttl: 64 }, 68, 67, data));
  }
}
