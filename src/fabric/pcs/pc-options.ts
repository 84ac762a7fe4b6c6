/** Types at the border of a PC: what its owner gives it, and the answers of its probes. */
import type { PcSettings } from './pc-shapes.ts';

export interface PcClock {
  /** Milliseconds, monotonic, with fractions. */
  now(): number;
  /** Runs once, never before `after` has returned. */
  after(ms: number, run: () => void): { cancel(): void };
}

/** Why a PC ended: `quit` was typed, or it failed, which is a defect of the program. */
export type PcEnd = { readonly kind: 'quit' } | { readonly kind: 'failed'; readonly message: string };

export const reasonOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

export interface PcOptions {
  readonly name: string;
  /** `00:50:79:66:68:00` and following. */
  readonly mac: string;
  readonly clock: PcClock;
  /** Takes an Ethernet frame without its checksum and owns it. Must not call `receive` of the same PC before it returns. */
  send(frame: Uint8Array): void;
  /** Takes output of the console, lines end with CR LF. */
  write(bytes: Uint8Array): void;
  /** Settings have changed: `settings()` has other values. Called once after several changes of one event. */
  onChanged?(): void;
  /** The PC has ended by itself and is closed; also when `input`, `receive` or a timer threw. */
  onEnded?(end: PcEnd): void;
  /** `disconnect` was typed: the console session that typed it should be closed. The PC keeps running. */
  onDisconnect?(): void;
  /** Reads a file of the PC for `load`; undefined: it does not exist. The name is checked: a base name that ends with `.vpc`. */
  loadFile?(name: string): Promise<string | undefined>;
  /** Writes a file of the PC for `save`; resolves when it is on disk. */
  saveFile?(name: string, text: string): Promise<void>;
  /** Settings of an earlier run of this PC. Their name takes precedence over `name`, which is still the node's. */
  readonly settings?: PcSettings | undefined;
  /** The PC is held from its beginning, at this time of the clock. */
  readonly heldAtMs?: number | undefined;
}

/** Why a probe got no answer. `unreachable`: the next hop did not answer ARP or ND; `no_address`: the PC has none of that family. */
export type ProbeFailure = 'no_address' | 'no_gateway' | 'unreachable' | 'unresolved' | 'ended' | 'busy';

export interface PingReply {
  /** Number of the echo request, from 1. */
  readonly sequence: number;
  /** Undefined: no answer in time. */
  readonly ms?: number;
  readonly ttl?: number;
  /** Address that answered, another one for an ICMP error. */
  readonly from?: string;
  /** An ICMP error that came instead, such as `Destination host unreachable`. */
  readonly error?: string;
}

export interface TraceHop {
  readonly hop: number;
  readonly from?: string;
  readonly ms?: number;
}

interface ArpEntry {
  readonly address: string;
  readonly mac: string;
  /** Time until the entry expires. */
  readonly remainingMs: number;
}

/** `failure` says why nothing was sent, or nothing more. */
export type ProbeAnswer =
  | {
      readonly type: 'ping';
      readonly to?: string;
      readonly sent: number;
      readonly replies: readonly PingReply[];
      readonly failure?: ProbeFailure;
    }
  | {
      readonly type: 'tcp';
      readonly to?: string;
      readonly outcome: 'open' | 'refused' | 'timeout' | 'error';
      readonly ms?: number;
      readonly failure?: ProbeFailure;
    }
  | {
      readonly type: 'udp';
      readonly to?: string;
      readonly outcome: 'answered' | 'timeout' | 'error';
      readonly ms?: number;
      readonly error?: string;
      readonly failure?: ProbeFailure;
    }
  | {
      readonly type: 'trace';
      readonly to?: string;
      readonly hops: readonly TraceHop[];
      readonly arrived: boolean;
      readonly failure?: ProbeFailure;
    }
  | { readonly type: 'resolve'; readonly addresses: readonly string[]; readonly failure?: ProbeFailure }
  | { readonly type: 'arp'; readonly entries: readonly ArpEntry[] }
  /** The PC's own addresses with their prefixes: `10.0.0.1/24`. `mtu`: in bytes. */
  | { readonly type: 'addresses'; readonly addresses: readonly string[]; readonly mtu?: number };
