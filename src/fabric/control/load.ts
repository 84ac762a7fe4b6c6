/**
 * Measures the load of the fabric's process. The delay of its event loop is the time that a frame may have waited to be noticed. It is only
 * measured while a client polls it, because measuring wakes an idle process fifty times a second.
 */
import { LateCounts } from '../delays/late-counts.ts';
import type { FabricLoad, LateCount } from '../protocol.ts';

/** Milliseconds between two measurements. */
const everyMs = 20;
/** Time without a poll after which the delay is no longer measured. */
const forgetMs = 90_000;

export class Load {
  readonly #late = new LateCounts();
  #before: readonly LateCount[] = [];
  #timer: NodeJS.Timeout | undefined;
  #forget: NodeJS.Timeout | undefined;
  #dueMs = 0;
  readonly #now: () => number;

  /** `now`: monotonic, ms. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** `loopDelay` is since it was last asked, all 0 the first time; `late` is since the start, as far as it was measured. */
  read(links: number): FabricLoad {
    const { user, system } = process.cpuUsage();
    this.#measure();
    const late = this.#late.list() ?? [];
    const loopDelay = delaysOf(late, this.#before);
    this.#before = late;
    const cpuSeconds = (user + system) / 1e6;
    return { cpuSeconds, residentBytes: process.memoryUsage.rss(), links, loopDelay, pid: process.pid, late };
  }

  #measure(): void {
    if (!this.#timer) {
      this.#dueMs = this.#now() + everyMs;
      this.#timer = setInterval(() => this.#record(), everyMs).unref();
    } else if (this.#now() > this.#dueMs) this.#record(); // What is late now is not kept for the next reader.
    clearTimeout(this.#forget);
    this.#forget = setTimeout(() => this.#stop(), forgetMs).unref();
  }

  /** Node counts in whole milliseconds: a timer may be a fraction of one early. */
  #record(): void {
    const now = this.#now();
    this.#late.record(Math.max(0, now - this.#dueMs), 1);
    this.#dueMs = now + everyMs;
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function delaysOf(late: readonly LateCount[], before: readonly LateCount[]): FabricLoad['loopDelay'] {
  const counted = new Map(before.map(({ ms, count }) => [ms, count]));
  const fresh = late.map(({ ms, count }) => ({ ms, count: count - (counted.get(ms) ?? 0) })).filter(({ count }) => count > 0);
  const total = fresh.reduce((sum, { count }) => sum + count, 0);
  const quantile = (part: number) => {
    let seen = 0;
    return fresh.find(({ count }) => {
      seen += count;
      return seen >= total * part;
    })?.ms;
  };
  return { medianMs: quantile(0.5) ?? 0, p99Ms: quantile(0.99) ?? 0, maxMs: fresh.at(-1)?.ms ?? 0 };
}
