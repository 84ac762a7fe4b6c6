/**
 * What the server says to the fabric process, as JSON lines over a Unix socket. Every request carries an `id` and is answered by one
 * line with the same `id`, in order. Requests are declarative: saying one again changes nothing, so a server that comes back, or a
 * fabric that starts anew, is brought to what should be by saying everything once more.
 */
import type { Filters } from '../schema/filter.ts';

/** Raised when the two sides no longer understand each other; a server that finds an older fabric replaces it. */
export const protocolVersion = 6;

export type PortSpec =
  /**
   * A Unix stream socket on which another process listens (QEMU `-netdev stream,server=on`, passt): each frame is 4 bytes of length,
   * big-endian, then the frame. The fabric connects, and connects again for as long as the port exists. It is sent
   * only frames that match the program `admits`, if there is one; others are dropped as `not_admitted`. `directsLeases`: answers of a
   * DHCP server there go to their client, not to everybody.
   */
  | { type: 'stream'; path: string; admits?: BpfInstruction[]; directsLeases?: boolean }
  /**
   * One frame per datagram. `bind` is the local address, default 0.0.0.0; only datagrams from `rhost:rport` are taken when `strict`.
   * `mtu`: a network device is behind the other side, and what is no frame for it (shorter than a header, longer than its MTU with
   * header and at most one VLAN tag) is dropped as oversized. `stream`: the other side is a fabric, too, and a TCP connection carries
   * the frames while there is one.
   */
  | { type: 'udp'; lport: number; rhost: string; rport: number; bind?: string; strict?: boolean; mtu?: number; stream?: StreamSpec }
  /**
   * A port of a switch inside the fabric. The switch is there while one of its ports is; of two ports with one number the last one
   * that was said is it.
   */
  | {
      type: 'switch' /** Unique in the fabric; chosen by the server. */;
      switch: string;
      port: number;
      settings: SwitchPortSettings;
    };

/** `accept` listens at the TCP port `lport`, `connect` connects to `rport`. A new secret leaves the connection that is there alone. */
export interface StreamSpec {
  role: 'accept' | 'connect';
  /** The same at both ends, and of this link alone. */
  secret: string;
  /** Frames on the connection are encrypted; `required`: without a connection there are none, in place of datagrams in the clear. */
  encryption?: 'preferred' | 'required';
}

/** How frames get to another compute. */
export type PeerCarrier = 'stream' | 'udp';

/** What a port does with frames; all ports of a switch have the same medium. Can be changed while frames pass. */
export type SwitchPortSettings =
  | EthernetSettings
  | { medium: 'hub' }
  | { medium: 'frame_relay'; circuits: FrameRelayCircuit[] }
  | { medium: 'atm'; circuits: AtmCircuit[] };

/** @see vlan.ts */
export interface EthernetSettings {
  medium: 'ethernet';
  mode: 'access' | 'dot1q' | 'qinq';
  /** 1 to 4094; on a trunk that of frames without a tag, on a tunnel that of the outer tag. */
  vlan: number;
  /** Type of the outer tag that a tunnel puts on; not used otherwise. */
  tagType: number;
}

/** One direction of a circuit, from the port that has it. */
export interface FrameRelayCircuit {
  dlci: number;
  toPort: number;
  toDlci: number;
}
/** As above. Without channels (`vci`) it is a whole path. */
export interface AtmCircuit {
  vpi: number;
  vci?: number;
  toPort: number;
  toVpi: number;
  toVci?: number;
}

export interface LinkSpec extends BpfPrograms {
  /** Unique in the fabric; chosen by the server. */
  id: string;
  /** The two ends; `a` to `b` is the direction "ab" in the counters. */
  a: PortSpec;
  b: PortSpec;
  filters: Filters;
  suspend: boolean;
  /** Files to which its frames are written, both directions in one; no two captures of the process have the same file. */
  captures?: CaptureSpec[];
}

/** Classic BPF programs, compiled from the expressions of these filters; a frame that matches one of them is dropped. */
export const bpfKeys = ['bpf', 'bpf_ab', 'bpf_ba'] as const;
export type BpfKey = (typeof bpfKeys)[number];
export type BpfPrograms = Partial<Record<BpfKey, BpfInstruction[][]>>;

/** A capture appends to what its file holds already. */
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
  /** How busy the process is. */
  | { op: 'load' }
  | { op: 'switch_stats'; ids?: string[] }
  /** What a switch has learned; nothing when it is not there. */
  | { op: 'addresses'; switch: string }
  | { op: 'forget_addresses'; switch: string }
  | { op: 'quit' };

export interface Hello {
  version: number;
  pid: number;
}

/** How long frames waited. */
export interface DelayFigures {
  median_ms: number;
  p99_ms: number;
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
  /** How long frames that were held really waited, over the last seconds; undefined when there were none. */
  delay?: DelayFigures;
  rates: Rates;
}

/** Of what went out. */
export interface Rates {
  /** Over the last second, as a sample a second shows it. */
  second: FrameRate;
  /** Over the last minute, or since the fabric's start. */
  minute: FrameRate;
}
export interface FrameRate {
  framesPerSecond: number;
  bitsPerSecond: number;
}

export interface FabricLinkStats {
  id: string;
  /** Since when it counts: when the link was made in this process, milliseconds since 1970. */
  since: number;
  /** True while the port can carry frames (stream connected, datagram socket bound). */
  connected: { a: boolean; b: boolean };
  /** How frames get to another compute now; undefined where no end leads to a Patchbay compute. */
  carrier?: PeerCarrier;
  ab: DirectionStats;
  ba: DirectionStats;
  /** Undefined when there is none. */
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

export interface FabricLoad {
  /** Processor time since the start, of all threads. */
  cpuSeconds: number;
  residentBytes: number;
  links: number;
  /** How late the event loop was since this was last asked. */
  loopDelay: { medianMs: number; p99Ms: number; maxMs: number };
}

export interface SwitchStats {
  id: string;
  /** Those that are plugged now, counted since they are. */
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
   * from), `circuit` (there is none). Of those to be sent: `queue_full`, `oversized` (too long with a tag).
   */
  dropped: Record<string, number>;
}

export interface AddressEntry {
  /** In lower case with colons. */
  mac: string;
  vlan: number;
  port: number;
  /** Since it was last heard. */
  ageMs: number;
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
    ? FabricLinkStats[]
    : R extends { op: 'load' }
      ? FabricLoad
      : R extends { op: 'switch_stats' }
        ? SwitchStats[]
        : R extends { op: 'addresses' }
          ? AddressEntry[]
          : R extends { op: 'apply' | 'sync' }
            ? LinkFailure[]
            : null;

/** One line on the wire. */
export type RequestLine = { id: number } & Request;
export type ReplyLine = { id: number; result: unknown } | { id: number; error: string };
