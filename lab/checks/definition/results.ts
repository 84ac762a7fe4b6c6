/** Results of probes. */

export interface RunResult {
  readonly output: string;
  /** Undefined where the platform reports no exit code. */
  readonly exitCode: number | undefined;
}

export interface PingResult {
  readonly sent: number;
  readonly received: number;
  /** Round trips, ms. */
  readonly times: readonly number[];
}

export interface TcpResult {
  readonly isOpen: boolean;
}

export interface HttpResult {
  /** HTTP status; undefined: no answer. */
  readonly status: number | undefined;
  readonly text: string;
}

export interface DnsResult {
  readonly addresses: readonly string[];
}

export interface TracerouteResult {
  readonly hops: readonly string[];
}

export interface IperfResult {
  /** Rate in kbit/s; undefined: the program reported none. */
  readonly rate: number | undefined;
}

export interface CapturedPackets {
  readonly packets: number;
  /** Number of different source MAC addresses. */
  readonly senders: number;
}
