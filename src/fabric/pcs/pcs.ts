/**
 * The PCs of the process, and their share of its event loop. A link may name a PC before it exists: its port is connected while it does. A
 * PC that has ended by itself stays listed, with the reason, until it is removed: a server that was away reads it there.
 */
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { EventStream } from '../../lib/event-stream.ts';
import type { PortOwner } from '../ports/port.ts';
import type { PcReport, PcSpec } from '../protocol.ts';
import { HostedPc, type HostedPcTools, type PcWork } from './hosted-pc.ts';
import type { HostedState } from './pc-shapes.ts';
import { PcPort } from './port-pc.ts';

/** PCs that are made, or asked, before frames get their turn. */
const pcsPerTurn = 8;
/** PCs take so long of a turn of the loop, and one piece of work more. */
const sliceMs = 1;

/** The frames that wait in links, as far as PCs know them. */
interface DueFrames {
  /** Sends what is due. */
  runIfDue(nowMs: number): void;
}

/**
 * The queue of PCs with something to do. In each turn of the loop one piece of work after the other is done for a moment: sockets, timers and
 * switches have their turn in between, however much the PCs have to do.
 */
class PcTurns {
  readonly #onTurn = () => this.#turn();
  readonly #schedule: DueFrames;
  #waiting: PcWork[] = [];
  #head = 0;
  #isScheduled = false;

  constructor(schedule: DueFrames) {
    this.#schedule = schedule;
  }

  add(one: PcWork): void {
    if (one.isWaiting) return;
    one.isWaiting = true;
    this.#waiting.push(one);
    this.#plan();
  }

  #turn(): void {
    this.#isScheduled = false;
    const limitMs = performance.now() + sliceMs;
    while (this.#head < this.#waiting.length) {
      const one = this.#waiting[this.#head++] as PcWork;
      one.isWaiting = false;
      if (one.work()) this.add(one);
      const nowMs = performance.now();
      // Frames of links leave in time, not when the PCs' share of the turn is over.
      this.#schedule.runIfDue(nowMs);
      if (nowMs >= limitMs) break;
    }
    // PCs that are done leave the queue when they are the larger part of it: constant work for each.
    if (this.#head * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    if (this.#waiting.length > this.#head) this.#plan();
  }

  #plan(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }
}

export class Pcs {
  /** Settings that have changed, and ends. */
  readonly reports = new EventStream<PcReport>();
  readonly #pcs = new Map<string, HostedPc>();
  readonly #ports = new Map<string, PcPort>();
  readonly #tools: HostedPcTools;
  readonly #isHeld: (id: string) => boolean;

  /** `isHeld`: time stands still for a PC of this id when it is made. */
  constructor(isHeld: (id: string) => boolean, schedule: DueFrames) {
    this.#isHeld = isHeld;
    this.#tools = { turns: new PcTurns(schedule), onReport: (report) => this.reports.emit(report) };
  }

  find(id: string): HostedPc | undefined {
    return this.#pcs.get(id);
  }

  /** Makes those that do not exist; the others stay as they are. Answers in their order. */
  async apply(specs: readonly PcSpec[]): Promise<PcReport[]> {
    const reports: PcReport[] = [];
    for (const [index, spec] of specs.entries()) {
      if (index % pcsPerTurn === pcsPerTurn - 1) await turn();
      reports.push((this.#pcs.get(spec.id) ?? this.#make(spec)).report);
    }
    return reports;
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#pcs.get(id)?.close();
      this.#pcs.delete(id);
    }
  }

  /** Removes all others. */
  retain(ids: readonly string[]): void {
    const wanted = new Set(ids);
    this.remove([...this.#pcs.keys()].filter((id) => !wanted.has(id)));
  }

  list(): PcReport[] {
    return [...this.#pcs.values()].map(({ report }) => report);
  }

  plug(id: string, owner: PortOwner): PcPort {
    const port = new PcPort(owner, (closed) => {
      if (this.#ports.get(id) === closed) this.#ports.delete(id);
    });
    this.#ports.set(id, port);
    this.#pcs.get(id)?.plug(port);
    return port;
  }

  /** Null for one that does not run. */
  async states(ids: readonly string[]): Promise<(HostedState | null)[]> {
    const states: (HostedState | null)[] = [];
    for (const [index, id] of ids.entries()) {
      if (index % pcsPerTurn === pcsPerTurn - 1) await turn();
      states.push(this.#pcs.get(id)?.state() ?? null);
    }
    return states;
  }

  /** The connection is to the console of a PC from now on; closed where it does not run. `typed` was received already. */
  watch(id: string, watcher: Socket, typed: Buffer): void {
    const pc = this.#pcs.get(id);
    if (pc && !pc.report.end) pc.console.watch(watcher, typed);
    else watcher.destroy();
  }

  close(): void {
    this.retain([]);
  }

  #make(spec: PcSpec): HostedPc {
    const heldAtMs = this.#isHeld(spec.id) ? performance.now() : undefined;
    const pc = new HostedPc(spec, this.#tools, heldAtMs);
    this.#pcs.set(spec.id, pc);
    const port = this.#ports.get(spec.id);
    if (port) pc.plug(port);
    return pc;
  }
}
