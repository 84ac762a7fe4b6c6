/**
 * Traces: for a short time, the fabric notes when frames of ARP and ICMP enter and leave links, and why a link lost one, in memory. A
 * frame is noted where captures take it (`in` before the filters, `out` after them), with the same clock. A trace has a lease, a limit
 * of frames, and no effect on them; only links that the kernel carried come to the fabric for its time.
 */

import type { LinkDirection } from '../../schema/filter.ts';
import { WallClock } from '../captures/capture.ts';
import { frameLength, headerBytes } from '../frames.ts';
import { etherTypes } from '../pcs/packet.ts';
import { type FrameTraceSpec, mostTraces, type TracedFrame } from '../protocol.ts';
import { isTagType } from '../switches/vlan.ts';
import type { Direction } from './direction.ts';

/** Most frames of a trace. Later ones are not noted. */
const mostFrames = 4000;
/** Bytes of a frame that are kept: the headers, and enough of a ping to tell it from others. */
const keptBytes = 128;

const typeAt = 12;
const [icmp, icmp6] = [1, 58];

/** Notes what becomes of the frames of a direction. */
interface FrameTrace {
  /** `point`: `in`, `out`, or why the link lost the frames. */
  take(point: string, buffer: Buffer, start: number, end: number): void;
}

/** A link, as far as traces know it. */
interface TraceableLink {
  direction(name: LinkDirection): Direction;
  /** Settles when its frames come to the fabric, or the kernel is asked to carry them again. */
  choosePath(): Promise<void>;
}

class Trace {
  readonly frames: TracedFrame[] = [];
  readonly spec: FrameTraceSpec;
  readonly #marks: readonly Buffer[];
  readonly #clock = new WallClock();

  constructor(spec: FrameTraceSpec) {
    this.spec = spec;
    this.#marks = spec.marks.map((mark) => Buffer.from(mark, 'hex'));
  }

  take(label: string, point: string, frame: Buffer): void {
    if (this.frames.length >= mostFrames || !isTraced(frame)) return;
    if (this.#marks.length > 0 && !this.#marks.some((mark) => frame.includes(mark, typeAt))) return;
    const { seconds, nanoseconds } = this.#clock.read();
    this.frames.push({ label, point, atMs: seconds * 1000 + nanoseconds / 1e6, bytes: frame.toString('base64') });
  }
}

export class FrameTraces {
  readonly #traces = new Map<string, Trace>();
  readonly #leases = new Map<string, NodeJS.Timeout>();
  readonly #byDirection = new Map<Direction, FrameTrace>();
  readonly #find: (link: string) => TraceableLink | undefined;

  constructor(find: (link: string) => TraceableLink | undefined) {
    this.#find = find;
  }

  of(direction: Direction): FrameTrace | undefined {
    return this.#byDirection.get(direction);
  }

  /** False: there are `mostTraces` already. A trace that exists stays as it is: the request may have been repeated. */
  async start(spec: FrameTraceSpec): Promise<boolean> {
    const { id, leaseMs } = spec;
    if (this.#traces.has(id)) return true;
    if (this.#traces.size >= mostTraces) return false;
    this.#traces.set(id, new Trace(spec));
    this.#leases.set(id, setTimeout(() => void this.end(id), leaseMs).unref());
    await this.#changed(spec);
    return true;
  }

  /** Null: there is none. */
  read(id: string): readonly TracedFrame[] | null {
    return this.#traces.get(id)?.frames ?? null;
  }

  /** False: there is none. */
  async end(id: string): Promise<boolean> {
    const trace = this.#traces.get(id);
    if (!trace) return false;
    clearTimeout(this.#leases.get(id));
    this.#leases.delete(id);
    this.#traces.delete(id);
    await this.#changed(trace.spec);
    return true;
  }

  async #changed({ places }: FrameTraceSpec): Promise<void> {
    const found = new Map<Direction, { readonly trace: Trace; readonly label: string }[]>();
    for (const trace of this.#traces.values()) {
      for (const { link, direction, label } of trace.spec.places) {
        const traced = this.#find(link)?.direction(direction);
        if (traced) found.set(traced, [...(found.get(traced) ?? []), { trace, label }]);
      }
    }
    this.#byDirection.clear();
    for (const [direction, traces] of found) this.#byDirection.set(direction, { take: takeFor(traces) });
    await Promise.all([...new Set(places.map(({ link }) => link))].map((link) => this.#find(link)?.choosePath()));
  }
}

function takeFor(traces: readonly { readonly trace: Trace; readonly label: string }[]): FrameTrace['take'] {
  return (point, buffer, start, end) => {
    for (let at = start; at < end; ) {
      const [from, length] = [at + headerBytes, frameLength(buffer, at)];
      const frame = buffer.subarray(from, from + Math.min(length, keptBytes));
      for (const { trace, label } of traces) trace.take(label, point, frame);
      at = from + length;
    }
  };
}

/** Whether it is a frame of ARP, ICMP or ICMPv6, with any VLAN tags. */
function isTraced(frame: Buffer): boolean {
  let at = typeAt;
  while (at + 2 <= frame.length && isTagType(frame.readUInt16BE(at))) at += 4;
  if (at + 2 > frame.length) return false;
  const type = frame.readUInt16BE(at);
  if (type === etherTypes.ip4) return frame[at + 2 + 9] === icmp;
  return type === etherTypes.arp || (type === etherTypes.ip6 && frame[at + 2 + 6] === icmp6);
}
