/**
 * MAC addresses of the hosts on the link, for ARP and for IPv6 neighbour discovery alike: what is known, and packets that wait for an
 * address. A request that gets no answer is repeated, so that a link which loses frames only delays a packet.
 */
import { isIp6 } from './addresses.ts';
import type { Packet } from './packet.ts';
import type { Timers } from './timers.ts';

/** vpcs shows that its entries expire after 120 s. */
const lifetimeMs = 120_000;
/** Milliseconds after each request; together 3 s, after which vpcs gives up too. */
const pausesMs = [200, 300, 500, 500, 500, 500, 500];
const limits = { entries: 512, pending: 64, packets: 8, bytes: 256 * 1024 };

interface PendingNeighbour {
  requests: number;
  readonly packets: Packet[];
}

interface NeighbourEntry {
  readonly address: string;
  readonly mac: string;
  readonly remainingMs: number;
}

/** The host, as far as its neighbours are concerned. */
interface NeighbourOwner {
  readonly timers: Timers;
  sendRequest(address: string): void;
  deliver(packet: Packet, mac: string): void;
  onUnreachable(packets: readonly Packet[]): void;
}

export class NeighbourTable {
  readonly #owner: NeighbourOwner;
  #entries: Map<string, { mac: string; until: number }> | undefined;
  #pending: Map<string, PendingNeighbour> | undefined;
  #waitingBytes = 0;

  constructor(owner: NeighbourOwner) {
    this.#owner = owner;
  }

  /** Delivers the packet at once, or when the address has answered. */
  send(address: string, packet: Packet): void {
    const mac = this.find(address);
    if (mac !== undefined) {
      this.#owner.deliver(packet, mac);
      return;
    }
    this.#pending ??= new Map();
    const pending = this.#pending.get(address) ?? { requests: 0, packets: [] };
    const isFull = this.#pending.size >= limits.pending && !this.#pending.has(address);
    if (isFull || pending.packets.length >= limits.packets || this.#waitingBytes + packet.payload.length > limits.bytes) return;
    this.#pending.set(address, pending);
    pending.packets.push(packet);
    this.#waitingBytes += packet.payload.length;
    if (pending.requests === 0) this.onTimer(address);
  }

  find(address: string): string | undefined {
    const entry = this.#entries?.get(address);
    return entry && entry.until > this.#owner.timers.now() ? entry.mac : undefined;
  }

  learn(address: string, mac: string): void {
    this.#entries ??= new Map();
    this.#entries.delete(address);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= limits.entries && oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(address, { mac, until: this.#owner.timers.now() + lifetimeMs });
    for (const packet of this.#take(address)) this.#owner.deliver(packet, mac);
  }

  /** Whether something waits for it, or it is known: its changes are of interest. */
  isWanted(address: string): boolean {
    return this.#entries?.has(address) || this.#pending?.has(address) || false;
  }

  /** Whether a packet to `dst` waits. */
  isPending(dst: string): boolean {
    return [...(this.#pending?.values() ?? [])].some(({ packets }) => packets.some((packet) => packet.dst === dst));
  }

  /** Sends the next request for `address`, or gives up. */
  onTimer(address: string): void {
    const pending = this.#pending?.get(address);
    if (!pending) return;
    const pause = pausesMs[pending.requests];
    if (pause === undefined) {
      this.#owner.onUnreachable(this.#take(address));
      return;
    }
    pending.requests += 1;
    this.#owner.timers.set(`resolve ${address}`, pause);
    this.#owner.sendRequest(address);
  }

  entries(): NeighbourEntry[] {
    const now = this.#owner.timers.now();
    return [...(this.#entries ?? [])]
      .filter(([, { until }]) => until > now)
      .map(([address, { mac, until }]) => ({ address, mac, remainingMs: until - now }));
  }

  /** Forgets those of IPv4, or of IPv6. */
  clear(is6: boolean): void {
    for (const address of this.#entries?.keys() ?? []) if (isIp6(address) === is6) this.#entries?.delete(address);
  }

  state(): { entries: NeighbourEntry[]; pending: { address: string; requests: number; packets: readonly Packet[] }[] } {
    return { entries: this.entries(), pending: [...(this.#pending ?? [])].map(([address, rest]) => ({ address, ...rest })) };
  }

  restoreEntry({ address, mac, remainingMs }: NeighbourEntry): void {
    this.#entries ??= new Map();
    this.#entries.set(address, { mac, until: this.#owner.timers.now() + remainingMs });
  }

  restorePending(address: string, requests: number, packets: Packet[]): void {
    this.#pending ??= new Map();
    this.#pending.set(address, { requests, packets });
    for (const { payload } of packets) this.#waitingBytes += payload.length;
  }

  #take(address: string): readonly Packet[] {
    const packets = this.#pending?.get(address)?.packets ?? [];
    this.#pending?.delete(address);
    this.#owner.timers.clear(`resolve ${address}`);
    for (const { payload } of packets) this.#waitingBytes -= payload.length;
    return packets;
  }
}
