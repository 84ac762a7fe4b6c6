/**
 * How busy the fabric's process is. The delay of its event loop, which is how long a frame may have waited to be seen, is only
 * measured while a client polls it: measuring wakes an idle process fifty times a second.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FabricLoad } from '../protocol.ts';

/** Milliseconds. The histogram's values are times between two looks, so this is what it shows when nothing is late. */
const resolutionMs = 20;
/** After this long without a poll it is no longer measured. */
const forgetMs = 90_000;

export class Load {
  #histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  #forget: NodeJS.Timeout | undefined;

  /** Delays are those since it was last asked; all 0 the first time. */
  read(links: number): FabricLoad {
    const { user, system } = process.cpuUsage();
    const loopDelay = this.#delays();
    return { cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage.rss(), links, loopDelay };
  }

  #delays(): FabricLoad['loopDelay'] {
    const histogram = this.#histogram ?? monitorEventLoopDelay({ resolution: resolutionMs });
    this.#histogram = histogram;
    const late = (nanoseconds: number) => (histogram.count === 0 ? 0 : Math.max(0, nanoseconds / 1e6 - resolutionMs));
    const delays = {
      medianMs: late(histogram.percentile(50)),
      p99Ms: late(histogram.percentile(99)),
      maxMs: late(histogram.max),
    };
    histogram.reset();
    histogram.enable();
    clearTimeout(this.#forget);
    this.#forget = setTimeout(() => this.#stop(), forgetMs).unref();
    return delays;
  }

  #stop(): void {
    this.#histogram?.disable();
    this.#histogram = undefined;
  }
}
