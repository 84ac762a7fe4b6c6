/**
 * Reassembles the TCP stream of a packet out of a capture. Theory of operation: the segments of both directions are taken in the
 * order of the capture. Data that continues a direction is delivered at once; data beyond a gap waits until the gap is filled, or
 * until the end, where the gap is reported. Repeated data is dropped: the first copy counts. Sequence numbers are compared as
 * distances modulo 2³².
 */
import { Slices } from '../packet-store.ts';
import type { Packet } from '../pcap.ts';
import { type TcpSegment, tcpSegmentOf } from './tcp-segment.ts';

/** A piece of one direction: data, or bytes that the capture lacks. */
export interface StreamPiece {
  /** 0: from the end that opened the connection, as far as the capture shows it. */
  readonly direction: 0 | 1;
  readonly timeMs: number;
  readonly data: Uint8Array;
  /** Bytes that are missing before the data. */
  readonly missing: number;
}

export interface TcpStream {
  readonly ends: readonly [string, string];
  readonly pieces: readonly StreamPiece[];
  readonly bytes: readonly [number, number];
  readonly packets: number;
  /** The stream is longer than `mostBytes`. */
  readonly isLimited: boolean;
}

/** Limit of the data kept of a stream. */
export const mostBytes = 16 * 1024 * 1024;

interface Held {
  readonly packet: Packet;
  readonly segment: TcpSegment;
}

/** Undefined: the packet has no TCP segment. `onProgress` receives the number of packets read. @throws DOMException when the signal aborts it */
export async function followStream(
  packets: readonly Packet[],
  chosen: Packet,
  { signal, onProgress }: { readonly signal?: AbortSignal; readonly onProgress?: (count: number) => void } = {},
): Promise<TcpStream | undefined> {
  const wanted = tcpSegmentOf(chosen.bytes);
  if (!wanted) return undefined;
  const slices = new Slices();
  const held: Held[] = [];
  for (const [at, packet] of packets.entries()) {
    const segment = tcpSegmentOf(packet.bytes);
    if (segment && isBetween(segment, wanted)) held.push({ packet, segment });
    if (!slices.isOver()) continue;
    onProgress?.(at);
    await slices.turn();
    signal?.throwIfAborted();
  }
  const mine = connectionOf(held, chosen);
  const ends = endsOf(mine, wanted);
  const assembly = new Assembly();
  for (const { packet, segment } of mine) {
    assembly.add(segment.from === ends[0] ? 0 : 1, segment, packet.timeMs);
    if (slices.isOver()) await slices.turn();
  }
  assembly.end();
  return { ends, ...assembly.result(), packets: mine.length };
}

const isBetween = (one: TcpSegment, other: TcpSegment) =>
  (one.from === other.from && one.to === other.to) || (one.from === other.to && one.to === other.from);

/** Ports are used again: a SYN with another sequence number begins another connection. */
function connectionOf(held: readonly Held[], chosen: Packet): readonly Held[] {
  let [begin, end, syn] = [0, held.length, undefined as number | undefined];
  for (const [at, { packet, segment }] of held.entries()) {
    if (!segment.isSyn || segment.isAck) continue;
    const isNew = syn === undefined ? at > 0 : syn !== segment.sequence;
    syn = segment.sequence;
    if (!isNew) continue;
    if (packet.number > chosen.number) {
      end = at;
      break;
    }
    begin = at;
  }
  return held.slice(begin, end);
}

/** The end that sent the SYN first; without one, the end that sent the first segment. */
function endsOf(held: readonly Held[], wanted: TcpSegment): readonly [string, string] {
  const { from, to, isSyn, isAck } = held[0]?.segment ?? wanted;
  return isSyn && isAck ? [to, from] : [from, to];
}

interface Waiting {
  readonly offset: number;
  readonly data: Uint8Array;
  readonly timeMs: number;
}

class Side {
  /** Sequence number of the next byte; undefined before the first segment. */
  next: number | undefined;
  delivered = 0;
  /** Data beyond a gap, the nearest last. Offsets count from `next` at their arrival plus what was delivered then. */
  readonly waiting: Waiting[] = [];
}

class Assembly {
  readonly #sides = [new Side(), new Side()] as const;
  readonly #pieces: StreamPiece[] = [];
  #kept = 0;
  #isLimited = false;

  add(direction: 0 | 1, { sequence, data }: TcpSegment, timeMs: number): void {
    const side = this.#sides[direction];
    side.next ??= sequence;
    if (data.length === 0) return;
    // The distance is between -2³¹ and 2³¹.
    const distance = (sequence - side.next) | 0;
    this.#kept += data.length;
    if (this.#kept > mostBytes) {
      this.#isLimited = true;
      return;
    }
    insert(side.waiting, { offset: side.delivered + distance, data, timeMs });
    this.#deliver(direction, false);
  }

  /** Delivers what waits behind gaps. */
  end(): void {
    this.#deliver(0, true);
    this.#deliver(1, true);
  }

  result(): Pick<TcpStream, 'pieces' | 'bytes' | 'isLimited'> {
    const [one, other] = this.#sides.map((_, direction) =>
      this.#pieces.reduce((sum, piece) => sum + (piece.direction === direction ? piece.data.length : 0), 0),
    );
    return { pieces: this.#pieces, bytes: [one ?? 0, other ?? 0], isLimited: this.#isLimited };
  }

  #deliver(direction: 0 | 1, overGaps: boolean): void {
    const side = this.#sides[direction];
    for (let first = side.waiting.at(-1); first; first = side.waiting.at(-1)) {
      const missing = first.offset - side.delivered;
      if (missing > 0 && !overGaps) return;
      side.waiting.pop();
      const data = missing < 0 ? first.data.subarray(-missing) : first.data;
      if (data.length === 0) continue;
      const advance = Math.max(0, missing) + data.length;
      side.delivered += advance;
      side.next = ((side.next ?? 0) + advance) >>> 0;
      this.#pieces.push({ direction, timeMs: first.timeMs, data, missing: Math.max(0, missing) });
    }
  }
}

/** Keeps the order: the smallest offset last; of equal ones the first copy is delivered first. */
function insert(waiting: Waiting[], one: Waiting): void {
  let [low, high] = [0, waiting.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((waiting[middle]?.offset ?? 0) > one.offset) low = middle + 1;
    else high = middle;
  }
  waiting.splice(low, 0, one);
}
