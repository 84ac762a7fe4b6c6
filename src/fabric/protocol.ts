/**
 * What the server says to the fabric process, as JSON lines over a Unix socket. Every request carries an `id` and is answered by one
 * line with the same `id`, in order. Requests are declarative: saying one again changes nothing, so a server that comes back, or a
 * fabric that starts anew, is brought to what should be by saying everything once more.
 */
import type { Filters } from '../schema/filter.ts';

/** Raised when the two sides no longer understand each other; a server that finds an older fabric replaces it. */
export const protocolVersion = 1;

export type PortSpec =
  /**
   * A Unix stream socket on which somebody listens (QEMU `-netdev stream,server=on`, passt): each frame is 4 bytes of length,
   * big-endian, then the frame. The fabric connects, and connects again for as long as the port exists.
   */
  | { type: 'stream'; path: string }
  /** One frame per datagram. `bind` is the local address, default 0.0.0.0; only datagrams from `rhost:rport` are taken when `strict`. */
  | { type: 'udp'; lport: number; rhost: string; rport: number; bind?: string; strict?: boolean };

export interface LinkSpec {
  /** Unique in the fabric; chosen by the server. */
  id: string;
  /** The two ends; `a` to `b` is the direction "ab" in the counters. */
  a: PortSpec;
  b: PortSpec;
  filters: Filters;
  /** Classic BPF programs, compiled from the expressions of `filters.bpf`; a frame that matches one of them is dropped. */
  bpf?: BpfInstruction[][];
  suspend: boolean;
  /** Seed of the random choices of this link; absent: chosen by the fabric. */
  seed?: number;
  /** Files to which its frames are written, both directions in one; no two captures of the process have the same file. */
  captures?: CaptureSpec[];
}

/** A capture goes on behind what its file holds already. */
export interface CaptureSpec {
  /** Absolute. */
  path: string;
  /** Number of the frames' type in the file, as `LINKTYPE_…` of pcap. */
  linkType: number;
  /** Frames as they come in, or as they are sent on after the filters. Default `after`. */
  side?: 'before' | 'after';
  /** Time stamps in nanoseconds instead of microseconds. */
  nanoseconds?: boolean;
  /** The file grows no longer than this. */
  maxBytes?: number;
  /** When it ends by itself, milliseconds since 1970. */
  until?: number;
}
/** As `tcpdump -ddd` prints it: code, jump if true, jump if false, operand. */
export type BpfInstruction = [code: number, jt: number, jf: number, k: number];

export type Request =
  | { op: 'hello' }
  /** These links should be as given; others stay as they are. Frames already queued in an unchanged link stay queued. */
  | { op: 'apply'; links: LinkSpec[] }
  | { op: 'remove'; ids: string[] }
  /** Exactly these links should exist. */
  | { op: 'sync'; links: LinkSpec[] }
  | { op: 'stats'; ids?: string[] }
  | { op: 'quit' };

export interface Hello {
  version: number;
  pid: number;
}

export interface DirectionStats {
  /** Frames that came in at one end, and their bytes. */
  received: number;
  receivedBytes: number;
  /** Frames that went out at the other end, and their bytes. */
  sent: number;
  sentBytes: number;
  /** Frames lost, by cause: the filter's type, or `suspend`, `queue_full`, `no_peer`, `oversized` (does not fit a datagram). */
  dropped: Record<string, number>;
  /** Frames that wait in a delay now. */
  queued: number;
}
export interface LinkStats {
  id: string;
  /** True while the port can carry frames (stream connected, datagram socket bound). */
  connected: { a: boolean; b: boolean };
  ab: DirectionStats;
  ba: DirectionStats;
  /** Absent when there is none. */
  captures?: CaptureStats[];
}

export interface CaptureStats {
  path: string;
  /** Frames that were taken since the capture was begun in this process. */
  frames: number;
  /** Of the file, with what is about to be written. */
  bytes: number;
  /** Frames that passed and are not in the file: the disk was slower. */
  missed: number;
  /** Why it has ended although it should be: a limit, or what the disk said. */
  ended?: string;
}

/**
 * A link that is not as it was asked for. When a UDP port could not be bound the link is there without it and the fabric keeps
 * trying; when the specification itself is unusable nothing was changed.
 */
export interface LinkFailure {
  id: string;
  error: string;
}

export type Reply<R extends Request> = R extends { op: 'hello' }
  ? Hello
  : R extends { op: 'stats' }
    ? LinkStats[]
    : R extends { op: 'apply' | 'sync' }
      ? LinkFailure[]
      : null;

/** One line on the wire. */
export type RequestLine = { id: number } & Request;
export type ReplyLine = { id: number; result: unknown } | { id: number; error: string };
