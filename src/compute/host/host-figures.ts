/**
 * Load and memory of this machine. Linux has the figures in `/proc`; elsewhere Node's own are used.
 * @see proc(5): /proc/stat, /proc/meminfo
 */
import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os';
import { fault } from '../../api/faults.ts';

export interface Figures {
  readonly memory_total: number;
  readonly memory_free: number;
  readonly memory_used: number;
  readonly swap_total: number;
  readonly swap_free: number;
  readonly swap_used: number;
  readonly cpu_usage_percent: number;
  readonly memory_usage_percent: number;
  readonly swap_usage_percent: number;
  readonly disk_usage_percent: number;
  readonly load_average_percent: number[];
}

/** Shorter spans make the CPU's figure jump. */
const sampleMs = 1900;

export class HostFigures {
  readonly #folder: string;
  #cpu = { at: Number.NEGATIVE_INFINITY, busy: 0, total: 0, percent: 0 };

  /** `folder`: the file system whose fill level counts. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Measures the load of all processors together since the last sample, 0 to 100; 0 at the first call. */
  async cpuPercent(): Promise<number> {
    const last = this.#cpu;
    if (performance.now() - last.at < sampleMs) return last.percent;
    // Noted before reading, so that calls that come together take one sample.
    this.#cpu = { ...last, at: performance.now() };
    const now = await cpuTicks();
    const span = now.total - last.total;
    const percent = last.total === 0 || span <= 0 ? last.percent : (100 * (now.busy - last.busy)) / span;
    this.#cpu = { at: performance.now(), ...now, percent };
    return percent;
  }

  /** Ticks since the boot, of all processors; 0: unknown. */
  async processorTime(): Promise<{ total: number; stolen: number }> {
    const { total, stolen } = await cpuTicks();
    return { total, stolen };
  }

  async memoryPercent(): Promise<number> {
    const { total, available } = await memory();
    return percentOf(total - available, total);
  }

  /** @throws statistics_failed */
  async all(): Promise<Figures> {
    try {
      const [ram, cpu, disk] = await Promise.all([memory(), this.cpuPercent(), diskPercent(this.#folder)]);
      const used = ram.total - ram.available;
      const swapUsed = ram.swapTotal - ram.swapFree;
      return {
        memory_total: ram.total,
        memory_free: ram.available,
        memory_used: used,
        swap_total: ram.swapTotal,
        swap_free: ram.swapFree,
        swap_used: swapUsed,
        cpu_usage_percent: Math.trunc(cpu),
        memory_usage_percent: Math.trunc(percentOf(used, ram.total)),
        swap_usage_percent: Math.trunc(percentOf(swapUsed, ram.swapTotal)),
        disk_usage_percent: Math.trunc(disk),
        load_average_percent: loadavg().map((load) => Math.trunc((100 * load) / availableParallelism())),
      };
    } catch (cause) {
      throw fault('statistics_failed', { reason: (cause as Error).message }, { cause });
    }
  }
}

/** Returns how full a folder's file system is, as `df` counts: blocks reserved for root count as neither free nor used. */
export async function diskPercent(folder: string): Promise<number> {
  const { blocks, bfree, bavail } = await statfs(folder);
  return percentOf(blocks - bfree, blocks - bfree + bavail);
}

function percentOf(part: number, whole: number): number {
  return whole > 0 ? (100 * part) / whole : 0;
}

/** First line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks; guest time is part of user time. */
async function cpuTicks(): Promise<{ busy: number; total: number; stolen: number }> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => '');
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] =
    /^cpu\s+(.*)$/m.exec(text)?.[1]?.split(/\s+/).map(Number) ?? [];
  const busy = user + nice + system + irq + soft + steal;
  return { busy, total: busy + idle + wait, stolen: steal };
}

async function memory(): Promise<{ total: number; available: number; swapTotal: number; swapFree: number }> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN) * 1024;
  const or = (value: number, other: number) => (Number.isNaN(value) ? other : value);
  return {
    total: or(bytes('MemTotal'), totalmem()),
    available: or(bytes('MemAvailable'), freemem()),
    swapTotal: or(bytes('SwapTotal'), 0),
    swapFree: or(bytes('SwapFree'), 0),
  };
}
