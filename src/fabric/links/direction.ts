/**
 * A direction of a link: frames read at the source pass the filters and are sent to the sink, at once or after a delay.
 *
 * Theory of operation: without filters a run of frames is written from the memory into which it was read. Filters that lose frames
 * close the gaps in that memory, so the rest still is one run. Frames that are held, or sent twice, are copied into the queue, and while
 * frames wait there every later one queues behind them: order is kept whatever happens to the filters. At most one run is on its way
 * into the sink at a time (`#busy`); until it is through, its memory stays as it is: a source waits (`#sourceWaits`), the queue keeps
 * its block. No allocation per frame, but for those that may be overtaken; no queue before the first frame that waits.
 */
import { outside } from '../../lib/heap.ts';
import type { Taps } from '../captures/link-captures.ts';
import type { BlockPool } from '../delays/delay-line.ts';
import { DelayQueue } from '../delays/delay-queue.ts';
import type { DelaySchedule, ScheduledQueue } from '../delays/delay-schedule.ts';
import type { NamedFilter } from '../filters/filter.ts';
import { type FrameAt, frameLength, headerBytes } from '../frames.ts';
import type { FabricPort } from '../ports/port.ts';
import type { DirectionStats } from '../protocol.ts';
import { returnedAt } from '../switches/port-switch.ts';
import type { FrameTraces } from './frame-traces.ts';
import { type Counted, RateMeter, type RateMeters } from './rate-meter.ts';
import { type DirectionFilters, noStages, type Stages, stagesOf } from './stages.ts';
import { StormMeter } from './storm-meter.ts';

/** Rules of a link for its frames at present; the same object for both directions. */
export interface Rules extends Taps {
  suspend: boolean;
  /** End of their validity: from then on `advance` replaces them and sets the filters. Milliseconds of `performance.now()`. */
  untilMs: number;
  readonly advance: (nowMs: number) => void;
}

export interface DirectionTools {
  readonly schedule: DelaySchedule;
  readonly blocks: BlockPool;
  readonly meters: RateMeters;
  readonly traces: Pick<FrameTraces, 'of'>;
}

/** First byte of the broadcast address. No other address in use begins with it. */
const broadcastByte = 0xff;

/** Overdue time of frames at which the sink is the bottleneck, and the source has to wait. */
const overdueMs = 20;

export class Direction implements ScheduledQueue, Counted {
  place = outside;
  wakeMs = 0;
  source: FabricPort | undefined;
  sink: FabricPort | undefined;
  readonly #rules: Rules;
  readonly #tools: DirectionTools;
  sent = 0;
  sentBytes = 0;
  #stages: Stages = noStages;
  #queue: DelayQueue | undefined;
  readonly #rates: RateMeter;
  #frame: FrameAt | undefined;
  #dropped: Record<string, number> | undefined;
  #received = 0;
  #receivedBytes = 0;
  #broadcasts = 0;
  /** Made with the first sign of a storm. */
  #storm: StormMeter | undefined;
  /** Begin of the hold, during which frames that come are queued and none leaves. */
  #heldMs: number | undefined;
  #busy = false;
  #sourceWaits = false;
  #closed = false;

  constructor(rules: Rules, tools: DirectionTools) {
    this.#rules = rules;
    this.#tools = tools;
    this.#rates = new RateMeter(tools.meters, this, (seconds) => this.#sample(seconds));
  }

  /** Sets the filters for frames to come; frames that wait keep their departure time. */
  setFilters(filters: DirectionFilters): void {
    this.#stages = stagesOf(filters);
  }

  /** Frames wait here, or may. */
  get queues(): boolean {
    return this.#stages.queues;
  }

  /** No frame is in it. */
  get isIdle(): boolean {
    return this.#waits === 0 && !this.#busy;
  }

  /** Takes frames of the source, as `PortOwner.received`. */
  receive(buffer: Buffer, start: number, end: number, frames: number): boolean {
    const rules = this.#rules;
    this.#received += frames;
    this.#receivedBytes += end - start - frames * headerBytes;
    // The first frame of a run is like the others in a storm.
    if (buffer[start + headerBytes] === broadcastByte) this.#broadcasts += frames;
    for (const tap of rules.before) tap.take(buffer, start, end);
    this.#trace('in', buffer, start, end);
    this.#advance();
    if (rules.suspend) {
      this.#drop('suspend', frames);
      this.#trace('suspend', buffer, start, end);
      return true;
    }
    const { queues, passing } = this.#stages;
    if (queues || this.#busy || this.#waits > 0 || this.#heldMs !== undefined) return this.#enqueue(buffer, start, end);
    if (passing.length === 0) return this.#pass(buffer, start, end, frames);
    return this.#filter(buffer, start, end);
  }

  /** Continues after the sink has written its frames, as `PortOwner.drained`. */
  drained(): void {
    this.#busy = false;
    this.#queue?.settle();
    this.release();
    if (this.#busy || !this.#sourceWaits) return;
    this.#sourceWaits = false;
    this.source?.resume();
  }

  /** Frames stay where they are; what comes counts as having come now. */
  hold(nowMs: number): void {
    this.#heldMs ??= nowMs;
  }

  /** Frames leave after what had remained of their delay. */
  unhold(nowMs: number): void {
    if (this.#heldMs === undefined) return;
    const heldForMs = nowMs - this.#heldMs;
    this.#queue?.shift(heldForMs);
    for (const { filter } of this.#stages.holding) if (filter.freeAtMs !== undefined) filter.freeAtMs += heldForMs;
    this.#heldMs = undefined;
    this.release();
  }

  /** Time for the frames of this direction; it stands still during a hold. */
  get nowMs(): number {
    return this.#heldMs ?? performance.now();
  }

  /** Frames that wait in a held direction, and the milliseconds until they leave. Ends with the hold. */
  *waiting(): Generator<{ remainingMs: number; frame: Buffer }> {
    const heldMs = this.#heldMs;
    const nowMs = heldMs ?? performance.now();
    for (const { dueMs, frame } of this.#queue?.waiting() ?? []) {
      yield { remainingMs: Math.max(0, dueMs - nowMs), frame };
      if (this.#heldMs !== heldMs) return;
    }
  }

  /** A frame with its length before it, of `waiting`. */
  restore(frame: Buffer, remainingMs: number): void {
    const nowMs = this.#heldMs ?? performance.now();
    this.#ownQueue.restore({ buffer: frame, start: 0, end: frame.length, arrivedMs: nowMs }, nowMs + remainingMs);
    this.#wake();
  }

  /** The sink still writes frames that were sent to it. */
  get isWriting(): boolean {
    return this.#busy;
  }

  release(): void {
    const queue = this.#queue;
    if (!queue || this.#closed || this.#heldMs !== undefined) return;
    this.#advance();
    // The clock is read for each run: frames that became due while others were written leave with them.
    while (!this.#busy && queue.take(performance.now(), this.#stages)) {
      const { block, start, end, taken } = queue.run;
      if (this.#rules.suspend) {
        this.#drop('suspend', taken);
        this.#trace('suspend', block, start, end);
      } else this.#send(block, start, end, taken);
      if (!this.#busy) queue.settle();
    }
    this.#wake();
  }

  stats(): DirectionStats {
    const queue = this.#queue;
    const delay = queue?.waited.figures(performance.now());
    const late = queue?.waited.late.list();
    const storm = this.#storm?.read();
    return {
      received: this.#received,
      receivedBytes: this.#receivedBytes,
      sent: this.sent,
      sentBytes: this.sentBytes,
      dropped: { ...this.#dropped },
      queued: queue?.frames ?? 0,
      queuedBytes: queue?.bytes ?? 0,
      ...(delay && { delay }),
      ...(late && { late }),
      rates: this.#rates.read(),
      ...(storm && { storm }),
    };
  }

  close(): void {
    this.#closed = true;
    this.#queue = undefined;
  }

  #sample(seconds: number): void {
    const returned = returnedAt(this.sink);
    if (!this.#storm && this.#broadcasts === 0 && returned === 0) return;
    this.#storm ??= new StormMeter();
    this.#storm.sample({ broadcasts: this.#broadcasts, returned }, seconds);
  }

  #advance(): void {
    const { untilMs } = this.#rules;
    if (untilMs === Number.POSITIVE_INFINITY) return;
    const nowMs = performance.now();
    if (nowMs >= untilMs) this.#rules.advance(nowMs);
  }

  /** Number of frames that wait. */
  get #waits(): number {
    return this.#queue?.frames ?? 0;
  }

  get #ownQueue(): DelayQueue {
    this.#queue ??= new DelayQueue(this.#tools.blocks, (cause, { buffer, start, end }) => {
      this.#drop(cause, 1);
      this.#trace(cause, buffer, start, end);
    });
    return this.#queue;
  }

  /** True when the memory is free again. */
  #pass(buffer: Buffer, start: number, end: number, frames: number): boolean {
    this.#send(buffer, start, end, frames);
    if (!this.#busy) return true;
    this.#sourceWaits = true;
    return false;
  }

  #filter(buffer: Buffer, start: number, end: number): boolean {
    const { match, passing, exempt } = this.#stages;
    let kept = 0;
    let to = start;
    let next = start;
    for (let at = start; at < end; at = next) {
      next = at + headerBytes + frameLength(buffer, at);
      const from = at + headerBytes;
      const isExempt = match !== undefined && match(buffer, from, next) === 0;
      if (!this.#passes(isExempt ? exempt : passing, buffer, from, next)) continue;
      if (to !== at) buffer.copyWithin(to, at, next);
      to += next - at;
      kept += 1;
    }
    return kept === 0 || this.#pass(buffer, start, to, kept);
  }

  #enqueue(buffer: Buffer, start: number, end: number): boolean {
    const nowMs = this.#heldMs ?? performance.now();
    const queue = this.#ownQueue;
    const stages = this.#stages;
    const { match, passing, exempt } = stages;
    this.#frame ??= { buffer, start: 0, end: 0, arrivedMs: 0.5 };
    const frame = this.#frame;
    frame.buffer = buffer;
    frame.arrivedMs = nowMs;
    let next = start;
    for (let at = start; at < end; at = next) {
      next = at + headerBytes + frameLength(buffer, at);
      const from = at + headerBytes;
      frame.start = at;
      frame.end = next;
      if (match !== undefined && match(buffer, from, next) === 0) {
        if (this.#passes(exempt, buffer, from, next)) queue.bypass(frame);
        continue;
      }
      if (!this.#passes(passing, buffer, from, next)) continue;
      queue.push(frame, stages);
      for (const { filter } of stages.repeating) if (filter.repeat?.()) queue.push(frame, stages);
    }
    this.#wake();
    // The process is awake anyway: check the clock as well.
    if (this.#heldMs === undefined) this.#tools.schedule.runIfDue(nowMs);
    const waits = this.#busy && queue.nextDueMs < nowMs - overdueMs;
    // A source that reads from two sockets may bring more while one of them waits.
    this.#sourceWaits ||= waits;
    return !waits;
  }

  #wake(): void {
    const queue = this.#queue;
    if (this.#busy || this.#heldMs !== undefined || !queue?.frames) return;
    this.#tools.schedule.add(this, queue.nextDueMs);
  }

  #passes(filters: readonly NamedFilter[], buffer: Buffer, start: number, end: number): boolean {
    for (const { filter, type } of filters) {
      if (filter.pass?.(buffer, start, end) === false) {
        this.#drop(type, 1);
        this.#trace(type, buffer, start - headerBytes, end);
        return false;
      }
    }
    return true;
  }

  #send(buffer: Buffer, start: number, end: number, frames: number): void {
    const sink = this.sink;
    if (!sink?.connected) {
      this.#drop('no_peer', frames);
      this.#trace('no_peer', buffer, start, end);
      return;
    }
    this.#rates.wake();
    this.sent += frames;
    this.sentBytes += end - start - frames * headerBytes;
    for (const tap of this.#rules.after) tap.take(buffer, start, end);
    this.#trace('out', buffer, start, end);
    this.#busy = !sink.send(buffer, start, end);
    if (sink.oversized === 0) return;
    this.sent -= sink.oversized;
    this.#drop('oversized', sink.oversized);
    sink.oversized = 0;
  }

  #trace(point: string, buffer: Buffer, start: number, end: number): void {
    this.#tools.traces.of(this)?.take(point, buffer, start, end);
  }

  #drop(cause: string, frames: number): void {
    this.#dropped ??= {};
    this.#dropped[cause] = (this.#dropped[cause] ?? 0) + frames;
  }
}
