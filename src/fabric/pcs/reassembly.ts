/** Joins fragments of IPv4 and IPv6. Its memory is bounded, and fragments that overlap end their datagram (RFC 5722, 4). */
import type { ReceivedPacket } from './packet.ts';
import type { Timers } from './timers.ts';

/** RFC 1122, 3.3.2 and RFC 8200, 4.5 allow a minute. */
const lifetimeMs = 30_000;
const limits = { datagrams: 16, fragments: 128, bytes: 65_535 };

interface FragmentPart {
  readonly offset: number;
  readonly payload: Uint8Array;
}
interface IncompleteDatagram {
  readonly until: number;
  readonly parts: FragmentPart[];
  bytes: number;
  /** Known from the last fragment. */
  total: number | undefined;
}

export class Reassembly {
  readonly #timers: Timers;
  #datagrams: Map<string, IncompleteDatagram> | undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** The whole packet when this was its last missing fragment. */
  add(packet: ReceivedPacket): ReceivedPacket | undefined {
    const { fragment, payload, src, dst, protocol } = packet;
    if (!fragment) return packet;
    this.#datagrams ??= new Map();
    const key = `${src} ${dst} ${protocol} ${fragment.id}`;
    const datagram = this.#datagrams.get(key) ?? this.#begin(key);
    const end = fragment.offset + payload.length;
    const isWrong =
      end > limits.bytes ||
      (fragment.more && (payload.length === 0 || payload.length % 8 !== 0)) ||
      (!fragment.more && datagram.total !== undefined && datagram.total !== end);
    const next = datagram.parts.findIndex(({ offset }) => offset >= fragment.offset);
    const at = next < 0 ? datagram.parts.length : next;
    const [before, after] = [datagram.parts[at - 1], datagram.parts[at]];
    if (after?.offset === fragment.offset && after.payload.length === payload.length) return undefined;
    const overlaps = (before && before.offset + before.payload.length > fragment.offset) || (after && after.offset < end);
    if (!fragment.more) datagram.total = end;
    const isPast = datagram.total !== undefined && Math.max(end, datagram.parts.at(-1)?.offset ?? 0) > datagram.total;
    if (isWrong || overlaps || isPast || datagram.parts.length === limits.fragments) {
      // The datagram stays until its time has passed, so that later fragments are not taken for another one.
      datagram.parts.length = 0;
      datagram.bytes = Number.NaN;
      return undefined;
    }
    datagram.parts.splice(at, 0, { offset: fragment.offset, payload: new Uint8Array(payload) });
    datagram.bytes += payload.length;
    if (datagram.bytes !== datagram.total) return undefined;
    this.#datagrams.delete(key);
    const whole = new Uint8Array(datagram.bytes);
    for (const part of datagram.parts) whole.set(part.payload, part.offset);
    const { fragment: _, ...rest } = packet;
    return { ...rest, payload: whole };
  }

  state(): { key: string; remainingMs: number; total?: number; parts: readonly FragmentPart[] }[] {
    const now = this.#timers.now();
    return [...(this.#datagrams ?? [])].map(([key, { until, total, parts }]) => ({
      ...{ key, remainingMs: until - now, parts },
      ...(total === undefined ? {} : { total }),
    }));
  }

  restore({ key, remainingMs, total, parts }: { key: string; remainingMs: number; total?: number; parts: FragmentPart[] }): void {
    this.#datagrams ??= new Map();
    const bytes = parts.reduce((sum, { payload }) => sum + payload.length, 0);
    this.#datagrams.set(key, { until: this.#timers.now() + remainingMs, total, parts, bytes });
  }

  onTimer(): void {
    const now = this.#timers.now();
    for (const [key, { until }] of this.#datagrams ?? []) if (until <= now) this.#datagrams?.delete(key);
    if (this.#datagrams?.size === 0) this.#datagrams = undefined;
    else this.#timers.set('fragments', lifetimeMs);
  }

  #begin(key: string): IncompleteDatagram {
    const datagrams = this.#datagrams as Map<string, IncompleteDatagram>;
    const [oldest] = datagrams.keys();
    if (datagrams.size === limits.datagrams && oldest !== undefined) datagrams.delete(oldest);
    const datagram = { until: this.#timers.now() + lifetimeMs, parts: [], bytes: 0, total: undefined };
    datagrams.set(key, datagram);
    if (!this.#timers.has('fragments')) this.#timers.set('fragments', lifetimeMs);
    return datagram;
  }
}
