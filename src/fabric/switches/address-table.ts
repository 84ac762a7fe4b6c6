/**
 * Remembers behind which port of a switch an address is: learned from the frames' senders, forgotten when an address was silent for long.
 *
 * Theory of operation. Buckets with a few places each, in typed arrays: looking up looks at one bucket and allocates nothing. The table
 * begins with a few buckets and has twice as many when one is full, up to a limit: no flood of senders makes it grow further. Then a full
 * bucket gives up the address that was silent longest; frames to it are flooded until it sends again. An address is two whole numbers,
 * `high` (VLAN and the first two bytes) and `low` (the other four).
 */
import type { AddressEntry } from '../protocol.ts';

/** IEEE 802.1D-2004 §7.9.2, recommended. */
export const ageingMs = 300_000;
const bucketBits = { first: 1, most: 10 };
const places = 8;
/** Most addresses of a table, as many as small switches have. */
export const tableSize = places << bucketBits.most;
const noPort = -1;

/** Bit of a group address, in the first two bytes of it. */
export const groupBit = 0x0100;

export class AddressTable {
  #bits = bucketBits.first;
  /** `high`, `low` and port of each place, or `noPort`. Empty until an address is learned. */
  #entries = new Int32Array();
  #lastSeenMs = new Float64Array();

  /** Notes that a frame from the address arrived at this port, now. Returns whether the address was known at another port. */
  learn(high: number, low: number, port: number, nowMs: number): boolean {
    if (this.#entries.length === 0) this.#resize(bucketBits.first);
    let place = this.#placeFor(high, low, nowMs);
    while (place === noPlace) {
      this.#resize(this.#bits + 1);
      place = this.#placeFor(high, low, nowMs);
    }
    const before = this.#entries[3 * place + 2];
    const hasMoved =
      before !== port && before !== noPort && this.#entries[3 * place + 1] === low && this.#entries[3 * place] === high;
    this.#entries[3 * place] = high;
    this.#entries[3 * place + 1] = low;
    this.#entries[3 * place + 2] = port;
    this.#lastSeenMs[place] = nowMs;
    return hasMoved;
  }

  /** The port behind which the address is; -1 when that is not known, or no longer. */
  find(high: number, low: number, nowMs: number): number {
    if (this.#entries.length === 0) return noPort;
    const first = this.#bucketOf(high, low);
    for (let place = first; place < first + places; place++) {
      if (this.#entries[3 * place + 1] !== low || this.#entries[3 * place] !== high) continue;
      return nowMs - (this.#lastSeenMs[place] as number) > ageingMs ? noPort : (this.#entries[3 * place + 2] as number);
    }
    return noPort;
  }

  forgetPort(port: number): void {
    for (let at = 2; at < this.#entries.length; at += 3) if (this.#entries[at] === port) this.#entries[at] = noPort;
  }

  clear(): void {
    this.#bits = bucketBits.first;
    this.#entries = new Int32Array();
    this.#lastSeenMs = new Float64Array();
  }

  list(nowMs: number): AddressEntry[] {
    const entries: AddressEntry[] = [];
    for (const [place, seenMs] of this.#lastSeenMs.entries()) {
      const [high, low, port] = entryAt(this.#entries, place);
      const ageMs = nowMs - seenMs;
      if (port !== noPort && ageMs <= ageingMs) entries.push({ mac: macText(high, low), vlan: high >>> 16, port, ageMs });
    }
    return entries;
  }

  /** The place of the address, or one that it may take; `noPlace` when its bucket is full and the table can grow. */
  #placeFor(high: number, low: number, nowMs: number): number {
    const first = this.#bucketOf(high, low);
    let chosen = first;
    let chosenMs = Number.POSITIVE_INFINITY;
    for (let place = first; place < first + places; place++) {
      const isFree = this.#entries[3 * place + 2] === noPort;
      if (!isFree && this.#entries[3 * place + 1] === low && this.#entries[3 * place] === high) return place;
      const lastSeenMs = isFree ? Number.NEGATIVE_INFINITY : (this.#lastSeenMs[place] as number);
      if (lastSeenMs >= chosenMs) continue;
      chosen = place;
      chosenMs = lastSeenMs;
    }
    return nowMs - chosenMs > ageingMs || this.#bits === bucketBits.most ? chosen : noPlace;
  }

  /** Makes room for so many buckets. Addresses of one bucket come into two at most, so all of them have a place. */
  #resize(bits: number): void {
    const [entries, lastSeenMs] = [this.#entries, this.#lastSeenMs];
    this.#bits = bits;
    this.#entries = new Int32Array(3 * (places << bits)).fill(noPort);
    this.#lastSeenMs = new Float64Array(places << bits);
    for (const [place, seenMs] of lastSeenMs.entries()) {
      const [high, low, port] = entryAt(entries, place);
      if (port !== noPort) this.learn(high, low, port, seenMs);
    }
  }

  /** The first place of its bucket. Multiplicative hashing with odd constants near 2^32 times the golden ratio and its like. */
  #bucketOf(high: number, low: number): number {
    const mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    // The upper bits are the best mixed.
    return (mixed >>> (32 - this.#bits)) * places;
  }
}

const noPlace = -1;

function entryAt(entries: Int32Array, place: number): readonly [high: number, low: number, port: number] {
  return [entries[3 * place] as number, entries[3 * place + 1] as number, entries[3 * place + 2] as number];
}

function macText(high: number, low: number): string {
  const hex = ((high & 0xffff) * 0x1_0000_0000 + (low >>> 0)).toString(16).padStart(12, '0');
  return hex.replace(/..(?!$)/g, '$&:');
}
