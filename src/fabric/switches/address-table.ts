/**
 * Which address is behind which port of a switch: learned from the frames' senders, forgotten when an address was silent for long.
 *
 * Theory of operation. A fixed number of buckets with a few places each, in typed arrays: looking up looks at one bucket and allocates
 * nothing, and no flood of senders makes the table grow. A full bucket gives up the address that was silent longest; frames to it are
 * flooded until it sends again. An address is two whole numbers, `high` (VLAN and the first two bytes) and `low` (the other four).
 */
import type { AddressEntry } from '../protocol.ts';

/** IEEE 802.1D-2004 §7.9.2, recommended. */
export const ageingMs = 300_000;
const bucketBits = 10;
const places = 8;
/** As small switches have it. */
export const tableSize = places << bucketBits;
const noPort = -1;

export class AddressTable {
  readonly #high = new Int32Array(tableSize);
  readonly #low = new Int32Array(tableSize);
  readonly #port = new Int32Array(tableSize).fill(noPort);
  readonly #lastSeenMs = new Float64Array(tableSize);

  /** A frame from the address arrived at this port, now. */
  learn(high: number, low: number, port: number, nowMs: number): void {
    const first = bucketOf(high, low);
    let chosen = first;
    let chosenMs = Number.POSITIVE_INFINITY;
    for (let at = first; at < first + places; at++) {
      const isFree = this.#port[at] === noPort;
      if (!isFree && this.#low[at] === low && this.#high[at] === high) {
        this.#port[at] = port;
        this.#lastSeenMs[at] = nowMs;
        return;
      }
      const lastSeenMs = isFree ? Number.NEGATIVE_INFINITY : (this.#lastSeenMs[at] as number);
      if (lastSeenMs < chosenMs) {
        chosen = at;
        chosenMs = lastSeenMs;
      }
    }
    this.#high[chosen] = high;
    this.#low[chosen] = low;
    this.#port[chosen] = port;
    this.#lastSeenMs[chosen] = nowMs;
  }

  /** The port behind which the address is; -1 when that is not known, or no longer. */
  find(high: number, low: number, nowMs: number): number {
    const first = bucketOf(high, low);
    for (let at = first; at < first + places; at++) {
      if (this.#low[at] !== low || this.#high[at] !== high) continue;
      return nowMs - (this.#lastSeenMs[at] as number) > ageingMs ? noPort : (this.#port[at] as number);
    }
    return noPort;
  }

  forgetPort(port: number): void {
    for (let at = 0; at < tableSize; at++) if (this.#port[at] === port) this.#port[at] = noPort;
  }

  clear(): void {
    this.#port.fill(noPort);
  }

  list(nowMs: number): AddressEntry[] {
    const entries: AddressEntry[] = [];
    for (let at = 0; at < tableSize; at++) {
      const port = this.#port[at] as number;
      const ageMs = nowMs - (this.#lastSeenMs[at] as number);
      if (port === noPort || ageMs > ageingMs) continue;
      const high = this.#high[at] as number;
      entries.push({ mac: macText(high, this.#low[at] as number), vlan: high >>> 16, port, ageMs });
    }
    return entries;
  }
}

/** Multiplicative hashing with odd constants near 2^32 times the golden ratio and its like; the upper bits are the best mixed. */
function bucketOf(high: number, low: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  return (mixed >>> (32 - bucketBits)) * places;
}

function macText(high: number, low: number): string {
  const hex = ((high & 0xffff) * 0x1_0000_0000 + (low >>> 0)).toString(16).padStart(12, '0');
  return hex.replace(/..(?!$)/g, '$&:');
}
