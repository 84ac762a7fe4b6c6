/** Keeps the latest packets of a capture, and the list of those that match the display filter. Bounded. */
import { signal } from '@preact/signals';
import { decode, ethernetLink } from './decode/decode.ts';
import type { Matches } from './display-filter.ts';
import type { Packet } from './pcap.ts';

/** Some tens of megabytes in total. The oldest tenth is dropped when either limit is exceeded. */
const mostPackets = 100_000;
const mostBytes = 64 * 1024 * 1024;
/** Longest time in which packets block input and rendering. */
const sliceMs = 8;

export interface StoreLimits {
  readonly packets: number;
  readonly bytes: number;
}

export class PacketStore {
  /** Changes whenever the kept or shown packets change. */
  readonly version = signal(0);
  linkType: number = ethernetLink;
  /** Packets dropped because of the limits. */
  forgotten = 0;
  /** Number of forgotten packets that the display filter showed. */
  shownForgotten = 0;
  readonly #limits: StoreLimits;
  #packets: Packet[] = [];
  #shown: Packet[] = [];
  #bytes = 0;
  #matches: Matches | undefined;
  /** Number of the current filter run. */
  #filtering = 0;

  constructor(limits: StoreLimits = { packets: mostPackets, bytes: mostBytes }) {
    this.#limits = limits;
  }

  /** Packets that match the filter, in order of arrival. */
  get shown(): readonly Packet[] {
    return this.#matches ? this.#shown : this.#packets;
  }

  /** All that are kept, whatever the filter shows. */
  get packets(): readonly Packet[] {
    return this.#packets;
  }

  get kept(): number {
    return this.#packets.length;
  }

  /** Finds a packet by its number. */
  find(number: number | undefined): Packet | undefined {
    // Numbers have no gaps, from the oldest kept packet on.
    return number === undefined ? undefined : this.#packets[number - (this.#packets[0]?.number ?? 0)];
  }

  clear(): void {
    this.#packets = [];
    this.#shown = [];
    this.#bytes = 0;
    this.forgotten = 0;
    this.shownForgotten = 0;
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

  /** Filters the kept packets in slices, and new ones as they arrive. Resolves early when a newer filter replaces it. */
  async filter(matches: Matches | undefined): Promise<void> {
    this.#filtering += 1;
    const mine = this.#filtering;
    this.#matches = matches;
    this.#shown = [];
    this.version.value += 1;
    if (!matches) return;
    // Packets that arrive from now on are appended to the matches.
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
    const shownBefore = this.shown.length;
    let count = 0;
    while (this.#packets.length - count > target.packets || this.#bytes > target.bytes) {
      this.#bytes -= this.#packets[count]?.bytes.length ?? 0;
      count += 1;
    }
    this.#packets = this.#packets.slice(count);
    this.forgotten += count;
    const first = this.#packets[0]?.number ?? 0;
    this.#shown = this.#shown.filter(({ number }) => number >= first);
    this.shownForgotten += shownBefore - this.shown.length;
  }
}

/** Runs long work in slices; between slices the page renders and handles input. */
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
