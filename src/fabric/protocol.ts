/**
 * Messages between the server and the fabric's process, as JSON lines over a Unix socket. Every request (`requests.ts`) carries an `id` and
 * is answered by one line with the same `id`, in order. Requests are declarative: repeating one changes nothing, so a server that comes
 * back, or a fabric that starts anew, is brought to the wanted state by sending everything again.
 */
import type { Filters } from '../schema/filter.ts';
import type { PcEnd, ProbeAnswer } from './pcs/pc-options.ts';
import type { PcSettings } from './pcs/pc-shapes.ts';
import type { AddressEntry, BpfKey, FilterState, Request } from './requests.ts';

export type { PcEnd, ProbeAnswer } from './pcs/pc-options.ts';
export { type HostedState, hostedState, type PcProbe, type PcSettings, pcProbe } from './pcs/pc-shapes.ts';
export type * from './requests.ts';

/** Raised when the two sides no longer understand each other; a server that finds an older fabric replaces it. */
export const protocolVersion = 18;

/** Most traces of a fabric at the same time. */
export const mostTraces = 8;

/** The keys of a link that have BPF programs. */
export const bpfKeys = ['bpf', 'bpf_ab', 'bpf_ba', 'match', 'match_ab', 'match_ba'] as const satisfies BpfKey[];

/** The way of a stream to another compute. */
export interface PeerPath {
  readonly via: 'direct' | 'relay';
  /** The shortest round trip of the last seconds, milliseconds; undefined: not measured yet. */
  readonly rttMs: number | undefined;
}
/** Transports of frames to another compute. */
export type PeerCarrier = 'stream' | 'udp';

/** Capabilities of the fabric's process on this host. */
export interface FabricCapabilities {
  /** The process may open interfaces in the host's network. */
  taps: boolean;
  /** Why the kernel cannot carry links here; null when it can. */
  kernelObstacle: string | null;
  /** Why machines cannot have TAP interfaces in the link namespace; null when they can. */
  linkObstacle: string | null;
}

/** Waiting times of frames. */
export interface DelayFigures {
  median_ms: number;
  p99_ms: number;
}

/** Number of events that were late by at most `ms` milliseconds, and by more than the next lower bound. */
export interface LateCount {
  ms: number;
  count: number;
}

export interface DirectionStats {
  /** Frames that came in at one end, and their bytes. */
  received: number;
  receivedBytes: number;
  /** Frames that went out at the other end, and their bytes. */
  sent: number;
  sentBytes: number;
  /**
   * Frames lost, by cause: the filter's type, or `suspend`, `queue_full`, `no_peer`, `oversized` (does not fit a datagram),
   * `not_admitted` (by the port's program).
   */
  dropped: Record<string, number>;
  /** Frames that wait in a delay now, and their bytes, each with its 4 bytes of length. */
  queued: number;
  queuedBytes: number;
  /** Real waiting times of held frames over the last seconds; undefined when there were none. */
  delay?: DelayFigures;
  /** Lateness of held frames since the link was made; undefined when none was held. Fabrics of earlier versions do not report it. */
  late?: LateCount[];
  rates: Rates;
  /** Undefined while there is none. That of the link is both of its directions together. */
  storm?: StormFigures;
}

/** A storm that a link carries, both directions together. The totals are those since the link was made. */
export interface StormFigures {
  /** Begin, milliseconds since 1970. */
  since: number;
  /** Broadcasts that came in, by the first frame of each read. */
  broadcasts: number;
  broadcastsPerSecond: number;
  /** Frames that a switch at an end was to flood although their sender was last seen behind another of its ports. */
  returned: number;
  returnedPerSecond: number;
  /** Frames return: the link is a part of a loop. */
  isLoop: boolean;
  /** VLAN of an access port at an end; undefined: there is none. */
  vlan?: number;
}

/** Rates of the frames that were sent. */
export interface Rates {
  /** Rate over the last second, as a sample a second shows it. */
  second: FrameRate;
  /** Rate over the last minute, or since the fabric's start. */
  minute: FrameRate;
}
export interface FrameRate {
  framesPerSecond: number;
  bitsPerSecond: number;
}

export interface FabricLinkStats {
  id: string;
  /** Begin of the counts: when the link was made in this process, milliseconds since 1970. */
  since: number;
  /** True while the port can carry frames (stream connected, datagram socket bound). */
  connected: { a: boolean; b: boolean };
  /** Transport of frames to another compute now, or `kernel` when the kernel carries them; undefined for all other links. */
  carrier?: PeerCarrier | 'kernel';
  /** Why the kernel does not carry a link that it could carry by its rules. */
  kernelObstacle?: string;
  /** Path of the stream to another compute, while there is one. */
  path?: PeerPath;
  ab: DirectionStats;
  ba: DirectionStats;
  /** Undefined when there is none. */
  captures?: CaptureStats[];
  /** Undefined when there is none. */
  mirrors?: MirrorStats[];
  /** Undefined when there is none. */
  schedule?: ScheduleState;
  /** Undefined while there is none. */
  storm?: StormFigures;
}

/** A schedule as it acts now. */
export interface ScheduleState {
  /** Milliseconds since 1970, as it was given. */
  startedAt: number;
  /** Time since `startedAt`, by this machine's clock. */
  elapsedMs: number;
  /** Filters that act: those of the link and of the schedule. */
  filters: Filters;
  suspend: boolean;
}

export interface CaptureStats {
  path: string;
  /** Frames that were taken since the capture was begun in this process. */
  frames: number;
  /** Length of the file, with the records that are about to be written. */
  bytes: number;
  /** Frames that passed and are not in the file: the disk was slower. */
  missed: number;
  /** Why it has ended although it should be: a limit, or what the disk said. */
  ended?: string;
}

/** Counters of a port that is sent the frames of a link as well. */
export interface MirrorStats {
  id: string;
  connected: boolean;
  /** Frames that were sent to it, and those that wait. */
  sent: number;
  queued: number;
  /** Frames that were not, by cause: `queue_full`, `no_peer`, `oversized`. */
  dropped: Record<string, number>;
}

export interface FabricLoad {
  /** Processor time since the start, of all threads. */
  cpuSeconds: number;
  residentBytes: number;
  links: number;
  /** Delays of the event loop since the last such request. */
  loopDelay: { medianMs: number; p99Ms: number; maxMs: number };
  /** Id of the process. Fabrics of earlier versions report neither this nor `late`. */
  pid?: number;
  /** Delays of the event loop since the start, as far as they were measured: while a client asks at least every 90 s. */
  late?: LateCount[];
}

export interface SwitchStats {
  id: string;
  /** Ports that are plugged now, counted since they are. */
  ports: SwitchPortStats[];
}

export interface SwitchPortStats {
  port: number;
  /** Frames that came in from the link, and their bytes. */
  received: number;
  receivedBytes: number;
  /** Frames that were given to the link, and their bytes. */
  sent: number;
  sentBytes: number;
  /** Frames that wait to be sent. */
  queued: number;
  /**
   * Frames lost, by cause. Of those that came in: `runt` (too short), `vlan` (not let in or out), `same_port` (to where they came
   * from), `circuit` (there is none), `storm` (`storm-bound.ts`), `storm_control` (a limit of the switch). Of those to be sent:
   * `queue_full`, `oversized` (too long with a tag).
   */
  dropped: Record<string, number>;
}

export interface TrafficFigures {
  /** `resolving`: the next hops have not answered ARP yet. */
  state: 'resolving' | 'running' | 'ended' | 'failed';
  /** Why it failed. */
  problem?: string;
  sent: number;
  received: number;
  duplicates: number;
  /** Arrived after one that was sent later. */
  reordered: number;
  /** Longest time without an arrival. */
  longestGapMs: number;
  /** Delays from the source to the sink; undefined when nothing arrived. */
  delayMs?: { p50: number; p99: number; worst: number };
}

/** A frame of ARP or ICMP at a point of a link. */
export interface TracedFrame {
  /** Name of the direction in the trace. */
  label: string;
  /** `in`, `out`, or why the link lost it, as `dropped` names it. */
  point: string;
  /** Milliseconds since 1970, with fractions; the clock of captures. */
  atMs: number;
  /** First 128 bytes of the frame, base64. */
  bytes: string;
}

/**
 * A link that is not as it was asked for. When a UDP port could not be bound the link is there without it and the fabric keeps
 * trying; when the specification itself is unusable nothing was changed.
 */
export interface LinkFailure {
  id: string;
  error: string;
}

/** A PC as its server knows it. */
export interface PcReport {
  id: string;
  /** The last ones, where it has ended. */
  settings: PcSettings;
  /** Why it has ended by itself; undefined while it runs. */
  end?: PcEnd;
}

/** Answers, by the request; all others are answered by null. */
type Replies = {
  hello: { version: number; pid: number };
  apply: LinkFailure[];
  sync: LinkFailure[];
  stats: FabricLinkStats[];
  load: FabricLoad;
  capabilities: FabricCapabilities;
  switch_stats: SwitchStats[];
  addresses: AddressEntry[];
  unconnected: string[];
  save_frames: number;
  load_frames: number;
  filter_states: FilterState[][];
  traffic_start: TrafficFigures | null;
  traffic_read: TrafficFigures | null;
  trace_start: boolean;
  trace_read: TracedFrame[] | null;
  trace_end: boolean;
  apply_pcs: PcReport[];
  watch_pcs: PcReport[];
  pc_states: unknown[];
  probe_pc: ProbeAnswer | null;
};
export type Reply<R extends Request> = R['op'] extends keyof Replies ? Replies[R['op']] : null;

/** A line of an answer; the line of a request is a `Request` with its `id`. */
export type ReplyLine = { id: number; result: unknown } | { id: number; error: string };

/** A line that answers nothing: a PC has other settings, or has ended. */
export interface PcLine {
  pc: PcReport;
}

/** A connection whose first line is this one is to the console of a PC from then on: it gets the last output, and what it sends is typed. */
export const consoleLine = (pc: string) => `console ${pc}\n`;
