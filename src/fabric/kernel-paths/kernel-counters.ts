/**
 * Reads the kernel's counters of redirected frames. The counters belong to shared actions, which stay when a link leaves the kernel's path.
 * One command reads the counters of all links, and its answer serves all requests of the next moment.
 */
import type { BatchTool } from '../../process/batch-tool.ts';
import type { FrameRate, Rates } from '../protocol.ts';

interface KernelCount {
  readonly frames: number;
  /** Bytes of the frames; `countOf` adds their 14-byte headers, which the kernel leaves out. */
  readonly bytes: number;
  /** Could not be given to the other interface. */
  readonly lost: number;
}
export type KernelCounts = ReadonlyMap<number, KernelCount>;

export const noCount: KernelCount = Object.freeze({ frames: 0, bytes: 0, lost: 0 });

/** Output of `tc -statistics -json actions list` for an action. */
interface PrintedAction {
  readonly index?: number;
  readonly stats?: { readonly bytes?: number; readonly packets?: number; readonly overlimits?: number };
}

const keptMs = 200;
const etherHeaderBytes = 14;
/** TCP payload of a frame of 1,500 bytes with timestamps. */
const segmentBytes = 1448;

export class KernelCounters {
  readonly #tc: BatchTool;
  #counts: Promise<KernelCounts> = Promise.resolve(new Map());
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(tc: BatchTool) {
    this.#tc = tc;
  }

  /** Reads the counters of all actions of the namespace, as they are now. */
  readNow(): Promise<KernelCounts> {
    this.#readAt = Number.NEGATIVE_INFINITY;
    return this.read();
  }

  /** Counters of all actions of the namespace, at most `keptMs` old. Rejects when they cannot be read: they are not 0 then. */
  read(): Promise<KernelCounts> {
    const nowMs = performance.now();
    if (nowMs - this.#readAt < keptMs) return this.#counts;
    this.#readAt = nowMs;
    this.#counts = this.#show();
    return this.#counts;
  }

  /** A tc that was ended is started again by the next command. */
  async #show(): Promise<KernelCounts> {
    const command = 'actions list action mirred';
    const first = await this.#tc.show(command);
    const { output, reason } = first.isLost ? await this.#tc.show(command) : first;
    if (reason === '') return parseCounts(output);
    this.#readAt = Number.NEGATIVE_INFINITY;
    throw new Error(`the kernel's counters cannot be read: ${reason}`);
  }
}

/**
 * Frames as on a cable. The kernel counts one packet for a large packet of a machine, as a TAP interface does not say of how many segments it
 * is: the frames of machines are at least as many as segments of an MTU of 1,500 take.
 */
export function countOf({ frames: packets, bytes, lost }: KernelCount, isMachine: boolean): KernelCount {
  const frames = isMachine ? Math.max(packets, Math.floor(bytes / segmentBytes)) : packets;
  return { frames, bytes: bytes + frames * etherHeaderBytes, lost };
}

export function parseCounts(output: string): KernelCounts {
  const counts = new Map<number, KernelCount>();
  for (const { actions = [] } of parseList(output)) {
    for (const { index, stats: { bytes = 0, packets = 0, overlimits = 0 } = {} } of actions) {
      if (index !== undefined) counts.set(index, { frames: packets, bytes, lost: overlimits });
    }
  }
  return counts;
}

function parseList(output: string): { actions?: PrintedAction[] }[] {
  try {
    const parsed: unknown = JSON.parse(output);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

/** Samples of a counter, one for each time that a client asked. */
export class KernelRates {
  #samples: { readonly atMs: number; readonly frames: number; readonly bytes: number }[] = [];

  /** Notes what was counted, and answers the rates over the last second and the last minute, as far as was asked. */
  note(nowMs: number, { frames, bytes }: KernelCount): Rates {
    const last = this.#samples.at(-1);
    // Samples from before a pause are dropped: frames counted meanwhile did not pass in the last second.
    if (last && nowMs - last.atMs > pauseMs) this.#samples = [];
    if (nowMs - (this.#samples.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) >= shortestMs)
      this.#samples.push({ atMs: nowMs, frames, bytes });
    while (nowMs - (this.#samples[0]?.atMs ?? nowMs) > minuteMs) this.#samples.shift();
    return { second: this.#since(nowMs - secondMs), minute: this.#since(nowMs - minuteMs) };
  }

  /** Rate since the last sample that is at least as old, or since the first sample. */
  #since(atMs: number): FrameRate {
    const from = this.#samples.findLast((sample) => sample.atMs <= atMs) ?? this.#samples[0];
    const to = this.#samples.at(-1);
    if (!from || !to || to.atMs - from.atMs < shortestMs) return { framesPerSecond: 0, bitsPerSecond: 0 };
    const seconds = (to.atMs - from.atMs) / 1000;
    return { framesPerSecond: (to.frames - from.frames) / seconds, bitsPerSecond: (8 * (to.bytes - from.bytes)) / seconds };
  }
}

const secondMs = 950;
const minuteMs = 60_000;
/** Samples closer together than this are not taken, however often clients ask: their difference would say nothing. */
const shortestMs = 100;
const pauseMs = 5000;
