/** The packets of a capture that the page keeps: the latest ones, and which of them the display filter shows. Bounded. */
import { signal } from '@preact/signals';
import { decode, ethernetLink } from './decode/decode.ts';
import type { Matches } from './display-filter.ts';
import type { Packet } from './pcap.ts';

/** Together some tens of megabytes. The oldest tenth goes when either is passed. */
const mostPackets = 100_000;
const mostBytes = 64 * 1024 * 1024;
/** So long the page is busy with packets before it turns to whoever uses it. */
const sliceMs = 8;

export interface StoreLimits {
  readonly packets: number;
  readonly bytes: number;
}

export class PacketStore {
  /** Changes with every change of what is kept or shown. */
  readonly version = signal(0);
  linkType: number = ethernetLink;
  /** Packets that were let go. */
  forgotten = 0;
  readonly #limits: StoreLimits;
  #packets: Packet[] = [];
  #shown: Packet[] = [];
  #bytes = 0;
  #matches: Matches | undefined;
  /** Which filtering is the current one. */
  #filtering = 0;

  constructor(limits: StoreLimits = { packets: mostPackets, bytes: mostBytes }) {
    this.#limits = limits;
  }

  /** Those that the filter lets through, in order of their arrival. */
  get shown(): readonly Packet[] {
    return this.#matches ? this.#shown : this.#packets;
  }

  get kept(): number {
    return this.#packets.length;
  }

  /** By its number. */
  find(number: number | undefined): Packet | undefined {
    // They are numbered without gaps, from the oldest that is kept.
    return number === undefined ? undefined : this.#packets[number - (this.#packets[0]?.number ?? 0)];
  }

  clear(): void {
    this.#packets = [];
    this.#shown = [];
    this.#bytes = 0;
    this.forgotten = 0;
    this.version.value += 1;
  }

  add(packets: readonly Packet[]): void {
    for (const packet of packets) {
      this.#packets.push(packet);
      this.#bytes += packet.bytes.length;
      if (this.#holds(packet)) this.#shown.push(packet);
    }
    if (this.#packets.length > this.#limits.packets || this.#bytes > this.#limits.bytes) this.#forget();
    this.version.value += 1;
  }

  /** Filters what is kept, in slices; what arrives meanwhile is filtered too. Resolves early when another filter was set. */
  async filter(matches: Matches | undefined): Promise<void> {
    this.#filtering += 1;
    const mine = this.#filtering;
    this.#matches = matches;
    this.#shown = [];
    this.version.value += 1;
    if (!matches) return;
    // What arrives from now on is put behind what is found here.
    const waiting = this.#packets.slice();
    const found: Packet[] = [];
    const slices = new Slices();
    for (const packet of waiting) {
      if (matches(decode(packet.bytes, this.linkType))) found.push(packet);
      if (!slices.isOver()) continue;
      await slices.turn();
      if (this.#filtering !== mine) return;
    }
    const [first] = this.#packets;
    const kept = found.filter(({ number }) => number >= (first?.number ?? 0));
    this.#shown = [...kept, ...this.#shown];
    this.version.value += 1;
  }

  #holds({ bytes }: Packet): boolean {
    return this.#matches?.(decode(bytes, this.linkType)) ?? false;
  }

  #forget(): void {
    const target = { packets: this.#limits.packets * 0.9, bytes: this.#limits.bytes * 0.9 };
    let count = 0;
    while (this.#packets.length - count > target.packets || this.#bytes > target.bytes) {
      this.#bytes -= this.#packets[count]?.bytes.length ?? 0;
      count += 1;
    }
    this.#packets = this.#packets.slice(count);
    this.forgotten += count;
    const first = this.#packets[0]?.number ?? 0;
    this.#shown = this.#shown.filter(({ number }) => number >= first);
  }
}

/** Long work in parts, between which the page draws and listens. */
export class Slices {
  #began = performance.now();

  isOver(): boolean {
    return performance.now() - this.#began > sliceMs;
  }

  async turn(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#began = performance.now();
  }
}
