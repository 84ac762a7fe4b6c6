/** Load of this machine for pings, sampled at most every 0.9 s, as a sample is compared with the one before it. */
import { cpus, freemem, totalmem } from 'node:os';

export interface Usage {
  readonly cpu_usage_percent: number;
  readonly memory_usage_percent: number;
}

const sampleMs = 900;

export class UsageMeter {
  #taken = 0;
  #busy = 0;
  #total = 0;
  #usage: Usage = Object.freeze({ cpu_usage_percent: 0, memory_usage_percent: 0 });

  read(): Usage {
    const now = performance.now();
    if (this.#total > 0 && now - this.#taken < sampleMs) return this.#usage;
    let busy = 0;
    let total = 0;
    for (const { times } of cpus()) {
      const all = times.user + times.nice + times.sys + times.idle + times.irq;
      total += all;
      busy += all - times.idle;
    }
    const share = this.#total > 0 && total > this.#total ? (busy - this.#busy) / (total - this.#total) : 0;
    this.#taken = now;
    this.#busy = busy;
    this.#total = total;
    this.#usage = Object.freeze({ cpu_usage_percent: percent(share), memory_usage_percent: percent(1 - freemem() / totalmem()) });
    return this.#usage;
  }
}

/** Converts a share to per cent, within 0..100, with one decimal. */
function percent(share: number): number {
  return Math.round(Math.min(Math.max(share, 0), 1) * 1000) / 10;
}
