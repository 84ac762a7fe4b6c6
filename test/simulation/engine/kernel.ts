/**
 * A virtual clock with the events that are due on it. Programs under simulation run in processes; an event belongs to the process that asked
 * for it, and never happens when that has ended. After each event everything that was promised to follow it is done before the next one.
 */
import { type Chance, makeChance } from '../../durability/random.ts';

/** A program of the simulated world, from its start to its end. */
export class Process {
  readonly name: string;
  isAlive = true;
  /** Time until which the process is stopped: work that is due for it waits. Milliseconds. */
  stoppedUntil = 0;
  readonly boot: Boot;

  constructor(name: string, boot: Boot) {
    this.name = name;
    this.boot = boot;
  }
}

/** A host from when it was booted until it is booted again. */
export class Boot {
  readonly host: string;
  readonly number: number;
  /** Milliseconds of the virtual clock; before its begin for the first. */
  readonly at: number;

  constructor(host: string, number = 1, at = -1_000_000) {
    this.host = host;
    this.number = number;
    this.at = at;
  }

  next(at: number): Boot {
    return new Boot(this.host, this.number + 1, at);
  }

  get id(): string {
    return `${this.host}-${this.number}`;
  }
}

export interface Due {
  readonly process: Process;
  readonly run: () => void;
  isCancelled: boolean;
}

interface Queued extends Due {
  readonly at: number;
  readonly seq: number;
}

/** Runs what promises and `process.nextTick` have queued, at once; Node calls it after each callback. */
const settle = (process as unknown as { _tickCallback: () => void })._tickCallback;

export class Kernel {
  /** Random numbers of the world: one stream, from the seed. */
  readonly chance: Chance;
  /** The world itself: what is always there. */
  readonly world = new Process('world', new Boot('world'));
  /** Milliseconds since the schedule began. */
  now = 0;
  /** The process of the event that is happening. */
  current = this.world;
  /** Called after each event with the process to which it happened; promises nothing. */
  afterEach: (process: Process) => void = () => undefined;
  events = 0;
  #seq = 0;
  readonly #heap: Queued[] = [];

  constructor(seed: number) {
    this.chance = makeChance(seed);
  }

  /** Has something happen after a delay, milliseconds. */
  after(delayMs: number, run: () => void, process = this.current): Due {
    const delay = Number.isFinite(delayMs) && delayMs > 0 ? delayMs : 0;
    const event: Queued = { at: this.now + delay, seq: this.#seq++, process, run, isCancelled: false };
    this.#push(event);
    return event;
  }

  /** Has a process do something of its own accord. */
  begin(process: Process, run: () => void): void {
    this.after(0, run, process);
  }

  /** Lets everything happen that is due until then, or until `isOver`. */
  run(until: number, isOver: () => boolean = () => false): void {
    settle();
    while (!isOver()) {
      const next = this.#heap[0];
      if (!next || next.at > until) {
        this.now = Math.max(this.now, until);
        return;
      }
      this.#pop();
      if (next.isCancelled || !next.process.isAlive) continue;
      if (next.process.stoppedUntil > next.at) {
        // Events of a process stay in order, also when it is stopped for longer meanwhile.
        this.#push({ ...next, at: next.process.stoppedUntil });
        continue;
      }
      this.now = next.at;
      this.events += 1;
      this.current = next.process;
      next.run();
      settle();
      this.current = this.world;
      this.afterEach(next.process);
    }
  }

  #push(event: Queued): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (!above || isBefore(above, event)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (!left) break;
      if (right && isBefore(right, left)) child += 1;
      const below = heap[child];
      if (!below || isBefore(last, below)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(one: Queued, other: Queued): boolean {
  return one.at === other.at ? one.seq < other.seq : one.at < other.at;
}
