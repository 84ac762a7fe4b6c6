/** A flow of numbered datagrams between two stations of the fabric: sent at given times, and measured where they arrive. */
import type { TrafficFigures, TrafficSpec } from '../protocol.ts';
import type { Switches } from '../switches/switches.ts';
import { datagramFrame, readDatagram, smallestFrame } from './traffic-frames.ts';
import { TrafficStation } from './traffic-station.ts';

/** Datagrams that arrive later are lost. */
const drainMs = 1500;
/** Time limit for the answers of the next hops. */
const resolveMs = 10_000;
const pollMs = 20;
/**
 * Most datagrams of one turn of the event loop: frames of links have theirs, and the queue of a switch's port holds so many of any size.
 */
const batchDatagrams = 256;

export class TrafficFlow {
  readonly #spec: TrafficSpec;
  readonly #number: number;
  readonly #source: TrafficStation;
  readonly #sink: TrafficStation;
  /** ms of `performance.now()`, by sequence number; NaN: not yet. */
  readonly #sentAt: Float64Array;
  readonly #delays: Float64Array;
  #timer: NodeJS.Timeout | undefined;
  #state: TrafficFigures['state'] = 'resolving';
  #problem: string | undefined;
  #begin = performance.now();
  #sent = 0;
  /** Due time of the next datagram, ms since `#begin`. */
  #dueMs = 0;
  #received = 0;
  #duplicates = 0;
  #reordered = 0;
  #highest = -1;
  #lastArrival = 0;
  #longestGapMs = 0;

  constructor(switches: Switches, spec: TrafficSpec, number: number) {
    this.#spec = spec;
    this.#number = number;
    this.#sentAt = new Float64Array(spec.gapsUs.length).fill(Number.NaN);
    this.#delays = new Float64Array(spec.gapsUs.length).fill(Number.NaN);
    this.#source = new TrafficStation(switches, spec.source, 2 * number, () => undefined);
    this.#sink = new TrafficStation(switches, spec.sink, 2 * number + 1, (frame) => this.#arrived(frame));
    this.#resolve();
  }

  get isOver(): boolean {
    return this.#state === 'ended' || this.#state === 'failed';
  }

  figures(): TrafficFigures {
    // Sorting tens of thousands of delays would hold frames while the flow runs.
    const delays = this.isOver ? this.#delays.filter((delay) => !Number.isNaN(delay)).sort() : new Float64Array();
    const at = (part: number) => delays[Math.min(delays.length - 1, Math.floor(part * delays.length))];
    const [p50, p99, worst] = [at(0.5), at(0.99), delays.at(-1)];
    return {
      state: this.#state,
      ...(this.#problem !== undefined && { problem: this.#problem }),
      sent: this.#sent,
      received: this.#received,
      duplicates: this.#duplicates,
      reordered: this.#reordered,
      longestGapMs: this.#longestGapMs,
      ...(p50 !== undefined && p99 !== undefined && worst !== undefined && { delayMs: { p50, p99, worst } }),
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#source.close();
    this.#sink.close();
    if (this.#state !== 'ended') this.#state = 'failed';
  }

  /**
   * Waits until the two stations know their next hops. Both ask: the routers on the way know them then, and no datagram waits for an answer
   * to ARP.
   */
  #resolve(): void {
    if (this.#source.nextMac && this.#sink.nextMac) {
      this.#state = 'running';
      this.#begin = performance.now();
      this.#lastArrival = this.#begin;
      this.#dueMs = (this.#spec.gapsUs[0] ?? 0) / 1000;
      this.#wait();
    } else if (performance.now() - this.#begin > resolveMs) {
      const silent = this.#source.nextMac ? this.#spec.sink : this.#spec.source;
      this.#problem = `${silent.nextHop} does not answer ${silent.address} (ARP)`;
      this.#end('failed');
    } else {
      this.#timer = setTimeout(() => this.#resolve(), pollMs);
    }
  }

  #wait(): void {
    const ms = this.#begin + this.#dueMs - performance.now();
    this.#timer = setTimeout(() => this.#send(), Math.max(0, ms));
  }

  /** Sends the datagrams that are due, as far as they fit into one turn. */
  #send(): void {
    const { gapsUs } = this.#spec;
    const nowMs = performance.now() - this.#begin;
    const most = Math.min(gapsUs.length, this.#sent + batchDatagrams);
    while (this.#sent < most && this.#dueMs <= nowMs) {
      this.#sendOne(this.#sent);
      this.#sent += 1;
      this.#dueMs += (gapsUs[this.#sent] ?? 0) / 1000;
    }
    if (this.#sent < gapsUs.length) this.#wait();
    else this.#timer = setTimeout(() => this.#end('ended'), drainMs);
  }

  #sendOne(sequence: number): void {
    const { sizes } = this.#spec;
    const { nextMac } = this.#source;
    if (!nextMac) return;
    this.#sentAt[sequence] = performance.now();
    const size = sizes[sequence % sizes.length] ?? smallestFrame;
    const address = { from: this.#source.own, toMac: nextMac, toIp: this.#sink.own.ip };
    this.#source.send(datagramFrame({ ...address, flow: this.#number, sequence, size }));
  }

  #arrived(frame: Buffer): void {
    const datagram = readDatagram(frame);
    if (this.#state !== 'running' || datagram?.flow !== this.#number) return;
    const { sequence } = datagram;
    const sentAt = this.#sentAt[sequence];
    if (sentAt === undefined || Number.isNaN(sentAt)) return;
    if (!Number.isNaN(this.#delays[sequence])) {
      this.#duplicates += 1;
      return;
    }
    const now = performance.now();
    this.#delays[sequence] = now - sentAt;
    this.#received += 1;
    if (sequence < this.#highest) this.#reordered += 1;
    this.#highest = Math.max(this.#highest, sequence);
    this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastArrival);
    this.#lastArrival = now;
    const isAll = this.#received === this.#spec.gapsUs.length;
    if (isAll) this.#end('ended');
  }

  #end(state: 'ended' | 'failed'): void {
    clearTimeout(this.#timer);
    const lastSent = this.#sentAt[this.#sent - 1];
    // Datagrams that were lost at the end are a gap, too.
    if (lastSent !== undefined && lastSent > this.#lastArrival) {
      this.#longestGapMs = Math.max(this.#longestGapMs, lastSent - this.#lastArrival);
    }
    this.#state = state;
    this.#source.close();
    this.#sink.close();
  }
}
