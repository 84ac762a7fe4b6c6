/** What probes find. */

export interface RunResult {
  readonly output: string;
  /** Undefined where the platform reports none. */
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
  /** Undefined: there was no answer. */
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
  /** kbit/s; undefined: it reported none. */
  readonly rate: number | undefined;
}

export interface CapturedPackets {
  readonly packets: number;
  /** Different source MAC addresses. */
  readonly senders: number;
}
