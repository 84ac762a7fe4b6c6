/**
 * The shapes of requests to the fabric process: the types of both sides, and what the process checks, since it outlives the server and
 * may be asked by one of another version. Unknown keys are refused, so a new key raises `protocolVersion`.
 */
import { isIPv4 } from 'node:net';
import { isAbsolute } from 'node:path';
import {
  finite,
  flag,
  list,
  object,
  oneOf,
  optional,
  type Shape,
  text,
  textThat,
  unchecked,
  type ValueOf,
  variants,
  whole,
} from '../lib/shape.ts';
import { type Filters, type LinkDirection, normaliseFilters } from '../schema/filter.ts';
import type { LinkSchedule } from '../schema/schedule.ts';
import { checkSchedule } from '../schema/schedule-rules.ts';
import { mostFlooded } from '../schema/switch.ts';
import { longestTrafficMs, mostDatagrams, trafficDurationMs, trafficSizes } from '../schema/traffic.ts';
import { pcProbe, pcSettings } from './pcs/pc-shapes.ts';

/** `sun_path` of Linux's `sockaddr_un`, less the final NUL. */
const maxSocketPathBytes = 107;
const maxPortNumber = 2 ** 31 - 1;

const id = textThat((value) => value !== '', 'must be text, not empty');
const udpPort = whole(1, 65_535);
const portNumber = whole(0, maxPortNumber);
const socketPath = textThat((value) => {
  const bytes = Buffer.byteLength(value);
  return bytes > 0 && bytes <= maxSocketPathBytes && !value.includes('\0');
}, `must be a path of 1 to ${maxSocketPathBytes} bytes`);
const interfaceName = textThat((value) => /^[\w@+][\w.@+-]{0,14}$/.test(value), 'must be the name of an interface of Linux');
const macAddress = textThat((value) => /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/.test(value), 'must be a MAC address');
const absolutePath = textThat((value) => isAbsolute(value) && !value.includes('\0'), 'must be an absolute path');

/** An instruction as `tcpdump -ddd` prints it: code, jump if true, jump if false, operand. */
export type BpfInstruction = [code: number, jt: number, jf: number, k: number];
/** Instructions of a classic BPF program. `translateBpf` checks them. */
const instructions = list(unchecked<BpfInstruction>());

const filters: Shape<Filters> = {
  problem: (value, name) => {
    if (typeof value !== 'object' || value === null) return `${name} must be an object`;
    const checked = normaliseFilters(value as Record<string, unknown>);
    return checked.ok ? undefined : `filter ${checked.name}: ${checked.reason}`;
  },
};

const schedule: Shape<LinkSchedule> = {
  problem: (value, name) => {
    const checked = checkSchedule(value);
    return checked.ok ? undefined : `${name}: ${checked.reason}`;
  },
};

const stream = object({
  /** `accept` listens at the TCP port `lport`, `connect` connects to `rport`. */
  role: oneOf('accept', 'connect'),
  /** Secret of this link alone, the same at both ends. A new secret keeps an existing connection. */
  secret: id,
  /** Frames on the connection are encrypted; `required`: without a connection there are none, in place of datagrams in the clear. */
  encryption: optional(oneOf('preferred', 'required')),
  /** The other end measures the round trip, and answers probes. */
  probes: optional(flag),
  /** Where both ends meet when one cannot connect to the other; each proves there that it has the ticket. */
  relay: optional(
    object({ host: text, port: whole(1, 65_535), ticket: textThat((value) => /^[0-9a-f]{64}$/.test(value), 'must be a ticket') }),
  ),
});
/** A TCP connection between the fabrics of two computes. */
export type StreamSpec = ValueOf<typeof stream>;

// The ranges of circuits are the widths of the fields in the frames.
const dlci = whole(0, 1023);
const vpi = whole(0, 255);
const vci = whole(0, 65_535);
const frameRelayCircuit = object({ dlci, toPort: portNumber, toDlci: dlci });
/** A direction of a circuit, from the port that has it. */
export type FrameRelayCircuit = ValueOf<typeof frameRelayCircuit>;
const atmCircuit = object({ vpi, vci: optional(vci), toPort: portNumber, toVpi: vpi, toVci: optional(vci) });
/** A direction of an ATM circuit, from the port that has it. Without channels (`vci`) it is a whole path. */
export type AtmCircuit = ValueOf<typeof atmCircuit>;

const switchPortSettings = variants('medium', {
  /** @see vlan.ts */
  ethernet: {
    mode: oneOf('access', 'dot1q', 'qinq'),
    /** VLAN of frames without a tag on a trunk, VLAN of the outer tag on a tunnel. */
    vlan: whole(1, 4094),
    /** Type of the outer tag that a tunnel puts on; not used otherwise. */
    tagType: whole(0, 0xffff),
    /** Most frames that the port floods in a second, by kind; without a limit: all. */
    stormControl: optional(
      object({
        broadcast: optional(whole(0, mostFlooded)),
        multicast: optional(whole(0, mostFlooded)),
        unknownUnicast: optional(whole(0, mostFlooded)),
      }),
    ),
  },
  hub: {},
  frame_relay: { circuits: list(frameRelayCircuit) },
  atm: { circuits: list(atmCircuit) },
});
/** Treatment of frames at a port; all ports of a switch have the same medium. Can be changed while frames pass. */
export type SwitchPortSettings = ValueOf<typeof switchPortSettings>;
export type EthernetSettings = Extract<SwitchPortSettings, { medium: 'ethernet' }>;

const port = variants('type', {
  /**
   * A Unix stream socket on which another process listens (QEMU `-netdev stream,server=on`, passt): each frame is 4 bytes of length,
   * big-endian, then the frame. The fabric connects, and connects again for as long as the port exists.
   */
  stream: {
    path: socketPath,
    /** Only frames that match this program are sent to it; others are dropped as `not_admitted`. */
    admits: optional(instructions),
    /** Answers of a DHCP server there go to their client, not to all stations. */
    directsLeases: optional(flag),
  },
  /** A UDP port; a datagram has one frame. */
  udp: {
    lport: udpPort,
    rhost: id,
    rport: udpPort,
    /** The local address, default 0.0.0.0. */
    bind: optional(text),
    /** Only datagrams from `rhost:rport` are taken. */
    strict: optional(flag),
    /**
     * A network device is behind the other side, and what is no frame for it (shorter than a header, longer than its MTU with header
     * and at most one VLAN tag) is dropped as oversized.
     */
    mtu: optional(whole()),
    /** The other side is a fabric, too, and a TCP connection carries the frames while there is one. */
    stream: optional(stream),
  },
  /**
   * Unix datagram sockets: the fabric listens at `path` and sends to `peer`, one frame per datagram behind a header, which is dropped from
   * what arrives. IOL and IOU exchange frames so.
   */
  datagrams: {
    path: socketPath,
    peer: socketPath,
    /** Header of the datagrams to the peer, hexadecimal; those of the peer have a header of the same length. */
    header: textThat((value) => /^(?:[0-9a-f]{2}){1,32}$/.test(value), 'must be up to 32 bytes in hexadecimal'),
  },
  /** A persistent TAP interface, which the fabric holds. */
  tap: {
    name: interfaceName,
    /**
     * The interface whose frames come and go over it: one end of a container's veth pair, or the TAP interface of a machine. A link between
     * two such ports that does nothing to its frames is carried by the kernel, from one of these to the other.
     */
    hostEnd: optional(interfaceName),
    /** The two interfaces are in the server's link namespace (`use_namespace`); otherwise in the host's own. */
    inLinkNamespace: optional(flag),
    /** False: the fabric carries every link of this port. */
    kernelPath: optional(flag),
    /** Consecutive segments of a TCP connection may be written as one packet of up to 64 KiB, as network cards merge what they receive. */
    merges: optional(flag),
  },
  /** All frames of an interface of this host, also those for other stations; the host keeps its own. */
  packet: { interface: interfaceName },
  /**
   * A port of a switch inside the fabric. The switch exists while one of its ports does; of two ports with one number the last one
   * applied is used.
   */
  switch: {
    /** Unique in the fabric; chosen by the server. */
    switch: id,
    port: portNumber,
    settings: switchPortSettings,
  },
  /** The Ethernet port of a PC inside the fabric; it is connected while that exists. Of two links to one PC the last one applied is used. */
  pc: { pc: id },
});
export type PortSpec = ValueOf<typeof port>;

const capture = object({
  path: absolutePath,
  /** Number of the frames' type in the file, as `LINKTYPE_…` of pcap. */
  linkType: whole(),
  /** Frames as they come in, or as they are sent on after the filters. Default `after`. */
  side: optional(oneOf('before', 'after')),
  /** Time stamps in nanoseconds instead of microseconds. */
  nanoseconds: optional(flag),
  /** The file grows no longer than this. */
  maxBytes: optional(finite),
  /** Time at which the capture ends by itself, milliseconds since 1970. */
  until: optional(finite),
});
/** A capture appends to its file. */
export type CaptureSpec = ValueOf<typeof capture>;

const mirror = object({
  /** Chosen by the server, for the counters. */
  id,
  port,
});
/** A port that is sent the frames of a link as well. */
export type MirrorSpec = ValueOf<typeof mirror>;

/** Classic BPF programs, compiled from the expressions of these filters; a frame matches when it matches one of them. */
const programs = optional(list(instructions));
export const linkSpec = object({
  /** Unique in the fabric; chosen by the server. */
  id,
  /** The two ends; `a` to `b` is the direction "ab" in the counters. */
  a: port,
  b: port,
  filters,
  suspend: flag,
  bpf: programs,
  bpf_ab: programs,
  bpf_ba: programs,
  match: programs,
  match_ab: programs,
  match_ba: programs,
  schedule: optional(schedule),
  /** Programs of the expressions in the steps of the schedule, by the text of their filter. */
  expressions: optional(list(object({ text, programs: list(instructions) }))),
  /** Files to which its frames are written, both directions in one; no two captures of the process have the same file. */
  captures: optional(list(capture)),
  /** No two links or mirrors have the same port. */
  mirrors: optional(list(mirror)),
});
export type LinkSpec = ValueOf<typeof linkSpec>;
/** The programs of a text of expressions, one for each line. */
export type CompiledExpressions = NonNullable<LinkSpec['expressions']>[number];
export type BpfType = 'bpf' | 'match';
export type BpfKey = BpfType | `${BpfType}_${LinkDirection}`;
export type BpfPrograms = Pick<LinkSpec, BpfKey>;

const ipv4 = textThat((value) => isIPv4(value), 'must be an IPv4 address');
const station = object({ switch: id, vlan: whole(1, 4094), address: ipv4, nextHop: ipv4 });
const gaps = list(whole(0));
/** Microseconds before each datagram: at least one, and no more and no longer than the API takes. */
const boundedGaps: Shape<number[]> = {
  problem: (value, name) => {
    const problem = gaps.problem(value, name);
    if (problem !== undefined) return problem;
    const given = value as readonly number[];
    if (given.length === 0 || given.length > mostDatagrams) return `${name} must have 1 to ${mostDatagrams} entries`;
    return trafficDurationMs(given) > longestTrafficMs ? `${name} must last at most ${longestTrafficMs} ms` : undefined;
  },
};
/** Datagrams between two stations at switches of the fabric. */
const traffic = object({
  id,
  source: station,
  sink: station,
  gapsUs: boundedGaps,
  /** Lengths of frames, bytes; used in turn. */
  sizes: list(whole(trafficSizes.minimum, trafficSizes.maximum)),
});
export type TrafficSpec = ValueOf<typeof traffic>;

/** A PC inside the fabric. It is made once: a PC that exists stays as it is, whatever a later request says. */
const pc = object({
  /** Unique in the fabric; chosen by the server. */
  id,
  name: text,
  mac: macAddress,
  /** Folder of the PC's files, for `save` and `load`. */
  directory: absolutePath,
  /** Run once, unless there are settings or a state. */
  script: optional(text),
  /** Settings of an earlier run: the PC continues with its addresses. */
  settings: optional(pcSettings),
  /** State of `pc_states` with which the PC continues. A state that is not valid ends the PC at once, with the reason. */
  state: optional(unchecked<unknown>()),
});
export type PcSpec = ValueOf<typeof pc>;

/** A direction of a link. */
const directionPlace = object({ link: text, direction: oneOf('ab', 'ba') });
export type DirectionPlace = ValueOf<typeof directionPlace>;
const directions = list(directionPlace);

/** Longest lease of a trace. */
const longestTraceMs = 120_000;
const trace = object({
  /** Unique in the fabric; chosen by the server. */
  id,
  leaseMs: whole(1, longestTraceMs),
  /** Only frames that contain one of these bytes behind their MAC addresses are noted; without any, all. Hexadecimal. */
  marks: list(textThat((value) => /^(?:[0-9a-f]{2}){4,16}$/.test(value), 'must be 4 to 16 bytes in hexadecimal')),
  /** Directions of links, and how the trace names them. One that does not exist now has no frames. */
  places: list(object({ link: text, direction: oneOf('ab', 'ba'), label: text })),
});
export type FrameTraceSpec = ValueOf<typeof trace>;

const filterState = object({
  /** Type of the filter, one of those that act. */
  type: text,
  /** State of the random generator: four numbers of 32 bits. */
  random: list(finite),
  /** State besides random numbers on which the treatment of the next frame depends: a count, or a condition. */
  position: optional(finite),
});
/** Where a filter is in its sequence. */
export type FilterState = ValueOf<typeof filterState>;

const addressEntry = object({
  /** MAC address in lower case with colons. */
  mac: macAddress,
  vlan: whole(0, 4095),
  port: portNumber,
  /** Time since the last frame from it. */
  ageMs: finite,
});
/** An address that a switch has learned. */
export type AddressEntry = ValueOf<typeof addressEntry>;

/** Each is checked by itself (`linkSpec`): a wrong one is a failure of its own, and the others are applied. */
const links = list(unchecked<LinkSpec>());
const ids = list(text);
export const request = variants('op', {
  hello: {},
  /** These links should be as given; others stay as they are. Frames already queued in an unchanged link stay queued. */
  apply: { links },
  remove: { ids },
  /** Exactly these links should exist. */
  sync: { links },
  stats: { ids: optional(ids) },
  /** Load of the process. */
  load: {},
  /** Capabilities of the process on this host. */
  capabilities: {},
  /** The link namespace is that of this process, its holder. */
  use_namespace: { holder: whole(1) },
  switch_stats: { ids: optional(ids) },
  /** Addresses that a switch has learned; nothing when it does not exist. */
  addresses: { switch: text },
  forget_addresses: { switch: text },
  /** Learns these addresses of ports that are plugged, as if frames had come from there. */
  learn_addresses: { switch: text, addresses: list(addressEntry) },
  /** Time stands still for these links and PCs, until they are released or the lease ends. What does not exist is held when it is made. */
  hold: { ids, pcs: optional(ids), leaseMs: whole(1, 60_000) },
  /** Ends the hold of these links and PCs. Frames leave after the remaining time of their delay. */
  release: { ids, pcs: optional(ids) },
  /** Ids of those of these links that exist and have an end that is not connected yet. */
  unconnected: { ids },
  /** Writes the frames that wait in held links to a file; answers how many. */
  save_frames: { path: absolutePath, directions },
  /** Adds frames of such a file, whose directions have the same order, to held links; answers how many. */
  load_frames: { path: absolutePath, directions },
  /** Where the filters of each direction are in their random sequences. */
  filter_states: { directions },
  /** Filters of the same types continue there; the states have the order of the directions. */
  continue_filters: { directions, states: list(list(filterState)) },
  /** Starts a flow, unless it exists, or there are too many. */
  traffic_start: { flow: traffic },
  traffic_read: { traffic: text },
  traffic_remove: { traffic: text },
  /** Starts a trace, unless it exists; false: there are too many. */
  trace_start: { trace },
  trace_read: { trace: text },
  trace_end: { trace: text },
  /** These PCs should exist; others stay. */
  apply_pcs: { pcs: list(pc) },
  remove_pcs: { ids },
  /** No other PCs should exist. */
  retain_pcs: { ids },
  /** Lists all PCs; from then on the connection also gets a line for each change (`PcLine`). */
  watch_pcs: {},
  /** Everything of these PCs, for their copies; null for one that does not run. */
  pc_states: { ids },
  /** Answered when the PC has the answer; later requests do not wait for it. Null: the PC does not run. */
  probe_pc: { pc: text, probe: pcProbe, key: optional(text) },
  /** Ends the probe with that key, which is answered with what it has found. */
  end_probe: { pc: text, key: text },
  quit: {},
});
export type Request = ValueOf<typeof request>;
