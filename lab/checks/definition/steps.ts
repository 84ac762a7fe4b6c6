/** Types of parsed checks: short forms are resolved, and expectations are compiled. */
import type { CaptureSide } from '../../../src/schema/capture.ts';
import type { CountRanges, Judge } from './judges.ts';
import type {
  CapturedPackets,
  DnsResult,
  HttpResult,
  IperfResult,
  PingResult,
  RunResult,
  TcpResult,
  TracerouteResult,
} from './results.ts';
import type { LinkChoice, StepWay } from './step-schema.ts';
import type { TableResult } from './tables.ts';
import type { ReplayPackets, StationChoice, TrafficPattern, TrafficResult } from './traffic.ts';

interface PingSettings {
  readonly to: string;
  readonly count: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Bytes of data. */
  readonly size: number;
  /** Whether the address is resolved before packets count, as on links that lose frames at random. */
  readonly resolves: boolean;
}

/** A step at the console of a node. */
export type Probe =
  | { readonly verb: 'run'; readonly command: string; readonly judge: Judge<RunResult> }
  | { readonly verb: 'ping'; readonly settings: PingSettings; readonly judge: Judge<PingResult>; readonly counts: CountRanges }
  | { readonly verb: 'tcp'; readonly to: string; readonly port: number; readonly judge: Judge<TcpResult> }
  | { readonly verb: 'http'; readonly url: string; readonly judge: Judge<HttpResult> }
  | { readonly verb: 'dns'; readonly host: string; readonly server: string | undefined; readonly judge: Judge<DnsResult> }
  | { readonly verb: 'traceroute'; readonly to: string; readonly hops: number; readonly judge: Judge<TracerouteResult> }
  | { readonly verb: 'route'; readonly to: string; readonly judge: Judge<TableResult> }
  | { readonly verb: 'neighbour'; readonly address: string; readonly protocol: string; readonly judge: Judge<TableResult> }
  | {
      readonly verb: 'iperf';
      readonly to: string;
      /** Node that runs the server. */
      readonly server: string;
      readonly seconds: number;
      readonly judge: Judge<IperfResult>;
    };

/** Traffic between two stations inside the fabric. */
export interface TrafficRun {
  readonly verb: 'traffic';
  readonly from: StationChoice;
  readonly to: StationChoice;
  readonly packets: TrafficPattern | ReplayPackets;
  readonly judge: Judge<TrafficResult>;
  readonly counts: CountRanges;
}

/** A change of the lab. */
export type LabAction =
  | { readonly verb: 'impair'; readonly link: LinkChoice; readonly filters: Readonly<Record<string, unknown>> }
  | { readonly verb: 'suspend' | 'resume'; readonly link: LinkChoice }
  | { readonly verb: 'start' | 'stop' | 'kill'; readonly target: string }
  | { readonly verb: 'config'; readonly lines: string };

/** A step that contains steps. */
export type StepGroup =
  | { readonly verb: 'timeline'; readonly steps: readonly CheckStep[] }
  | {
      readonly verb: 'capture';
      readonly link: LinkChoice;
      /** An expression of tcpdump; undefined: all packets. */
      readonly filter: string | undefined;
      readonly side: CaptureSide;
      readonly steps: readonly CheckStep[];
      readonly judge: Judge<CapturedPackets>;
    };

export interface Repetition {
  readonly how: 'eventually' | 'always' | 'never';
  readonly forMs: number;
  readonly everyMs: number;
}

export interface CheckStep {
  readonly name: string;
  /** Node of the console; present for probes and `config`. */
  readonly node: string | undefined;
  readonly by: StepWay;
  /** Time since the beginning of the timeline, ms. */
  readonly atMs: number;
  readonly repetition: Repetition | undefined;
  /** Time limit of one try, ms. */
  readonly limitMs: number;
  readonly what: Probe | TrafficRun | LabAction | StepGroup;
}

export function isProbe(what: CheckStep['what']): what is Probe {
  return ['run', 'ping', 'tcp', 'http', 'dns', 'traceroute', 'iperf', 'route', 'neighbour'].includes(what.verb);
}

export function isGroup(what: CheckStep['what']): what is StepGroup {
  return what.verb === 'timeline' || what.verb === 'capture';
}
