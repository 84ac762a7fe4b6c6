/** The verb `traffic`: stations, the times between packets, and the expected figures. */
import { isIPv4 } from 'node:net';
import { longestTrafficMs, mostDatagrams } from '../../../src/schema/traffic.ts';
import { CheckError, type CheckPath, placed } from './check-error.ts';
import { countRanges, type Judge, outside, rangeOf } from './judges.ts';
import { readDuration } from './quantities.ts';
import type { LabCheck, StepExpect } from './step-schema.ts';
import type { TrafficRun } from './steps.ts';

export interface StationChoice {
  /** Name of an Ethernet switch. */
  readonly at: string;
  readonly address: string;
  readonly nextHop: string;
  readonly vlan: number;
}

/** Packets at computed times. */
export interface TrafficPattern {
  readonly how: 'constant' | 'poisson' | 'burst';
  /** Size of a frame, bytes. */
  readonly size: number;
  /** Average packets per second. */
  readonly rate: number;
  /** Packets per burst. */
  readonly burst: number;
  readonly forMs: number;
}

/** Packets with the times and sizes of a pcap file's packets. */
export interface ReplayPackets {
  readonly how: 'replay';
  /** Path relative to the folder of the lab. */
  readonly file: string;
  /** Duration; undefined: the whole file. */
  readonly forMs: number | undefined;
}

/** Result of a traffic step; times are in ms. */
export interface TrafficResult {
  readonly sent: number;
  readonly received: number;
  readonly reordered: number;
  readonly gap: number;
  readonly delay: { readonly p50: number; readonly p99: number; readonly worst: number } | undefined;
}

/** Most packets on average. Random times may yield more: the server accepts `mostDatagrams`. */
const averagePackets = 30_000;

type TrafficGiven = NonNullable<LabCheck['traffic']>;
/** Returns the path of a file that the lab file names, relative to the folder of the lab. Throws when it is outside. */
type FilePath = (named: string) => string;

/** Reads a traffic step. @throws CheckError */
export function readTraffic(
  given: LabCheck['traffic'],
  { expect, path, filePath }: { expect: StepExpect; path: CheckPath; filePath: FilePath },
): TrafficRun {
  if (!given) throw new CheckError(path, 'traffic needs `from` and `to`');
  const { from, to } = given;
  const at = [...path, 'traffic'];
  const station = (one: typeof from, other: typeof from, name: string): StationChoice => {
    const { address, gateway = other.address, vlan = 1 } = one;
    for (const [field, text] of Object.entries({ address, gateway })) {
      if (!isIPv4(text)) throw new CheckError([...at, name, field], `${JSON.stringify(text)} is not an IPv4 address`);
    }
    return { at: one.at, address, nextHop: gateway, vlan };
  };
  return {
    verb: 'traffic',
    from: station(from, to, 'from'),
    to: station(to, from, 'to'),
    packets: given.pcap === undefined ? readPattern(given, at) : readReplayed(given, given.pcap, at, filePath),
    judge: judgeTraffic(expect, [...path, 'expect']),
    counts: countRanges(expect, [...path, 'expect']),
  };
}

function readPattern({ pattern = 'constant', rate = 100, burst = 10, for: time = '10s', size = 200 }: TrafficGiven, at: CheckPath) {
  const forMs = readTime(time, at);
  if ((rate * forMs) / 1000 > averagePackets) {
    throw new CheckError([...at, 'rate'], `${Math.round((rate * forMs) / 1000)} packets are too many: at most ${averagePackets}`);
  }
  return { how: pattern, rate, burst, forMs, size };
}

function readReplayed(given: TrafficGiven, pcap: string, at: CheckPath, filePath: FilePath): ReplayPackets {
  const other = (['pattern', 'rate', 'burst', 'size'] as const).find((field) => given[field] !== undefined);
  if (other !== undefined) throw new CheckError([...at, other], `\`${other}\` is that of the pcap file: leave it out`);
  const forMs = given.for === undefined ? undefined : readTime(given.for, at);
  return { how: 'replay', file: placed([...at, 'pcap'], () => filePath(pcap)), forMs };
}

function readTime(text: string, at: CheckPath): number {
  const ms = placed([...at, 'for'], () => readDuration(text));
  if (ms <= longestTrafficMs) return ms;
  throw new CheckError([...at, 'for'], `traffic lasts at most ${longestTrafficMs / 60_000} minutes`);
}

/** Returns the microseconds before each packet; the same seed gives the same times. */
export function gapsOf({ how, rate, burst, forMs }: TrafficPattern, seed: number): number[] {
  const average = 1_000_000 / rate;
  const random = randomOf(seed);
  const gaps: number[] = [];
  for (let us = 0, index = 0; ; index += 1) {
    const gap =
      how === 'constant'
        ? average
        : how === 'poisson'
          ? -Math.log(1 - random()) * average
          : index % burst === 0
            ? average * burst
            : 0;
    us += gap;
    if (us > forMs * 1000 || gaps.length === mostDatagrams) break;
    gaps.push(Math.round(gap));
  }
  return gaps.length > 0 ? gaps : [0];
}

/** Mulberry32: 32 bits of state suffice for times between packets. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function judgeTraffic(expect: StepExpect, path: CheckPath): Judge<TrafficResult> {
  const time = (field: keyof StepExpect) => rangeOf(expect, path, field, 'time');
  const [delay, p99, longest, gap] = [time('delay'), time('delay_p99'), time('delay_max'), time('gap')];
  const [received, reordered] = [rangeOf(expect, path, 'received', 'count'), rangeOf(expect, path, 'reordered', 'count')];
  const lossByDefault = expect.received === undefined ? { ...expect, loss: expect.loss ?? '0%' } : expect;
  const loss = rangeOf(lossByDefault, path, 'loss', 'percent');
  return (result) => [
    ...outside('loss', loss, result.sent === 0 ? 100 : (100 * (result.sent - result.received)) / result.sent, '%'),
    ...outside('the number of packets', received, result.received),
    ...outside('the median delay', delay, result.delay?.p50, 'ms'),
    ...outside('the 99th percentile of the delays', p99, result.delay?.p99, 'ms'),
    ...outside('the longest delay', longest, result.delay?.worst, 'ms'),
    ...outside('the longest time without an arrival', gap, result.gap, 'ms'),
    ...outside('the number of reordered packets', reordered, result.reordered),
  ];
}
