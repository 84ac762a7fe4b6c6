/**
 * One direction of a link: what is read at the source passes the filters and goes to the sink, at once or after a delay.
 *
 * Theory of operation: without filters a run of frames is written from the memory into which it was read. Filters that lose frames
 * close the gaps in that memory, so the rest still is one run. Frames that are held are copied into the delay line, and while frames
 * wait there every later one queues behind them: order is kept whatever happens to the filters. At most one run is on its way into
 * the sink at a time (`#busy`); until it is through, its memory stays as it is: a source waits (`#sourceWaits`), the line keeps its
 * block. No allocation per frame.
 */
import { type BlockPool, DelayLine } from './delay-line.ts';
import type { DelaySchedule, Waiting } from './delay-schedule.ts';
import type { ActiveFilter, Filter } from './filter.ts';
import { frameLength, headerBytes } from './frames.ts';
import type { Taps } from './link-captures.ts';
import type { Port } from './port.ts';
import type { DirectionStats } from './protocol.ts';

/** What a link does to its frames at present; the same object for both directions. */
export interface Rules extends Taps {
  suspend: boolean;
  /** Filters that may lose or change a frame. */
  passing: readonly ActiveFilter[];
  /** Filters that hold frames. */
  holding: readonly Filter[];
}

/** Is shown a run of frames, and must copy what it keeps. */
export interface Tap {
  take(buffer: Buffer, start: number, end: number): void;
}

export interface DirectionTools {
  readonly schedule: DelaySchedule;
  readonly blocks: BlockPool;
}

/** With frames this much overdue the sink is the bottleneck, and the source is made to wait. */
const overdueMs = 20;

export class Direction implements Waiting {
  wakeMs = 0;
  source: Port | undefined;
  sink: Port | undefined;
  readonly #rules: Rules;
  readonly #tools: DirectionTools;
  #line: DelayLine;
  readonly #dropped: Record<string, number> = {};
  #received = 0;
  #receivedBytes = 0;
  #sent = 0;
  #sentBytes = 0;
  #lastDueMs = 0;
  #scheduled = false;
  #busy = false;
  #sourceWaits = false;
  #closed = false;

  constructor(rules: Rules, tools: DirectionTools) {
    this.#rules = rules;
    this.#tools = tools;
    this.#line = new DelayLine(tools.blocks);
  }

  /** As `PortOwner.received`. */
  receive(buffer: Buffer, start: number, end: number, frames: number): boolean {
    const rules = this.#rules;
    this.#received += frames;
    this.#receivedBytes += end - start - frames * headerBytes;
    for (const tap of rules.before) tap.take(buffer, start, end);
    if (rules.suspend) {
      this.#drop('suspend', frames);
      return true;
    }
    const queue = rules.holding.length > 0 || this.#line.frames > 0 || this.#busy;
    if (queue) return this.#enqueue(buffer, start, end);
    if (rules.passing.length === 0) return this.#pass(buffer, start, end, frames);
    return this.#filter(buffer, start, end);
  }

  /** As `PortOwner.drained`, for the sink. */
  drained(): void {
    this.#busy = false;
    this.#line.settle();
    if (!this.#scheduled) this.release(performance.now());
    if (this.#busy || !this.#sourceWaits) return;
    this.#sourceWaits = false;
    this.source?.resume();
  }

  release(nowMs: number): void {
    const line = this.#line;
    this.#scheduled = false;
    if (this.#closed) return;
    while (!this.#busy && line.take(nowMs)) {
      if (this.#rules.suspend) this.#drop('suspend', line.taken);
      else this.#send(line.block, line.start, line.end, line.taken);
      if (!this.#busy) line.settle();
    }
    if (!this.#busy && line.frames > 0) this.#wake();
  }

  stats(): DirectionStats {
    return {
      received: this.#received,
      receivedBytes: this.#receivedBytes,
      sent: this.#sent,
      sentBytes: this.#sentBytes,
      dropped: { ...this.#dropped },
      queued: this.#line.frames,
    };
  }

  close(): void {
    this.#closed = true;
    this.#line = new DelayLine(this.#tools.blocks);
  }

  /** True when the memory is free again. */
  #pass(buffer: Buffer, start: number, end: number, frames: number): boolean {
    this.#send(buffer, start, end, frames);
    if (!this.#busy) return true;
    this.#sourceWaits = true;
    return false;
  }

  #filter(buffer: Buffer, start: number, end: number): boolean {
    let kept = 0;
    let to = start;
    let next = start;
    for (let at = start; at < end; at = next) {
      next = at + headerBytes + frameLength(buffer, at);
      if (!this.#passes(buffer, at + headerBytes, next)) continue;
      if (to !== at) buffer.copyWithin(to, at, next);
      to += next - at;
      kept += 1;
    }
    return kept === 0 || this.#pass(buffer, start, to, kept);
  }

  #enqueue(buffer: Buffer, start: number, end: number): boolean {
    const nowMs = performance.now();
    const line = this.#line;
    let next = start;
    for (let at = start; at < end; at = next) {
      next = at + headerBytes + frameLength(buffer, at);
      if (!this.#passes(buffer, at + headerBytes, next)) continue;
      let dueMs = nowMs;
      for (const filter of this.#rules.holding) dueMs += filter.hold?.() ?? 0;
      // Jitter never lets a frame overtake the one before it.
      if (dueMs < this.#lastDueMs) dueMs = this.#lastDueMs;
      if (line.push(buffer, at, next, dueMs)) this.#lastDueMs = dueMs;
      else this.#drop('queue_full', 1);
    }
    if (!this.#busy && !this.#scheduled && line.frames > 0) this.#wake();
    // Whoever is awake may as well look at the clock.
    this.#tools.schedule.runIfDue(nowMs);
    this.#sourceWaits = this.#busy && line.nextDueMs < nowMs - overdueMs;
    return !this.#sourceWaits;
  }

  #wake(): void {
    this.wakeMs = this.#line.nextDueMs;
    this.#scheduled = true;
    this.#tools.schedule.add(this);
  }

  #passes(buffer: Buffer, start: number, end: number): boolean {
    for (const { filter, type } of this.#rules.passing) {
      if (filter.pass?.(buffer, start, end) === false) {
        this.#drop(type, 1);
        return false;
      }
    }
    return true;
  }

  #send(buffer: Buffer, start: number, end: number, frames: number): void {
    const sink = this.sink;
    if (!sink?.connected) {
      this.#drop('no_peer', frames);
      return;
    }
    this.#sent += frames;
    this.#sentBytes += end - start - frames * headerBytes;
    for (const tap of this.#rules.after) tap.take(buffer, start, end);
    this.#busy = !sink.send(buffer, start, end);
    if (sink.oversized === 0) return;
    this.#sent -= sink.oversized;
    this.#drop('oversized', sink.oversized);
    sink.oversized = 0;
  }

  #drop(cause: string, frames: number): void {
    this.#dropped[cause] = (this.#dropped[cause] ?? 0) + frames;
  }
}
