/** Shapes of a PC's settings, of its whole state, and of requests to its probes, in JSON. */
import { isIPv4, isIPv6 } from 'node:net';
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
  type ValueOf,
  variants,
  whole,
} from '../../lib/shape.ts';

/** Longer texts are refused, so that a file of a lab cannot fill memory. */
const boundedText = (limit: number) => textThat((value) => value.length <= limit, `must have at most ${limit} characters`);
const boundedList = <T>(items: Shape<T>, limit: number): Shape<T[]> => {
  const all = list(items);
  return {
    problem: (value, name) =>
      all.problem(value, name) ?? ((value as T[]).length > limit ? `${name} must have at most ${limit} entries` : undefined),
  };
};
const shortText = boundedText(255);
const line = boundedText(1000);
const address = textThat((value) => isIPv4(value) || isIPv6(value), 'must be an IP address');
const mac = textThat((value) => /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(value), 'must be a MAC address');
const hex = textThat((value) => /^([0-9a-f]{2}){0,65535}$/.test(value), 'must be bytes as hexadecimal digits');
const port = whole(1, 65_535);
const anyPort = whole(0, 65_535);
const count = whole(0);
const sequence32 = whole(0, 2 ** 32 - 1);

const ipSetting = object({ address, prefix: whole(0, 128), gateway: optional(address), auto: optional(flag) });
/** `auto`: it was made from a router advertisement. */
export type IpSetting = ValueOf<typeof ipSetting>;

const lease = object({
  server: address,
  seconds: finite,
  renewSeconds: finite,
  rebindSeconds: finite,
  /** Milliseconds since the lease was obtained. */
  ageMs: finite,
});

/**
 * Durable facts of a PC, small enough for a journal record at each change. A PC that is made with them continues with its addresses and
 * runs no start-up script.
 */
export const pcSettings = object({
  name: shortText,
  mtu: whole(576, 9216),
  /** IPv4, without which the PC has none. */
  ip4: optional(ipSetting),
  /** A global IPv6 address. */
  ip6: optional(ipSetting),
  /** The router that advertises itself on the link. `mac` may be empty. */
  router6: optional(object({ address, mac: shortText })),
  /** MTU of IPv6 that the router advertises. */
  mtu6: optional(whole(1280, 65_535)),
  dns: boundedList(address, 4),
  dns6: optional(boundedList(address, 4)),
  domain: optional(shortText),
  lease: optional(lease),
  /** Flags of `set dump`. */
  dump: optional(boundedList(shortText, 4)),
  /** Whether a script's lines are echoed. */
  echo: optional(flag),
});
export type PcSettings = ValueOf<typeof pcSettings>;

const packet = object({ src: address, dst: address, protocol: whole(0, 255), ttl: whole(0, 255), payload: hex });
const place = object({ address, port: anyPort });
const connection = object({
  ...{ local: place, remote: place, ttl: whole(0, 255), phase: oneOf('connecting', 'accepting', 'open'), sendNext: sequence32 },
  ...{ receiveNext: sequence32, buffer: hex, inFlight: count, fin: oneOf('none', 'wanted', 'sent', 'acked'), hasPeerEnded: flag },
  ...{ peer: object({ window: anyPort, mss: port }), tries: count },
});
const dhcpAnswer = object({
  ...{ type: count, id: sequence32, address, server: optional(address), prefix: whole(0, 32), gateway: optional(address) },
  ...{
    dns: boundedList(address, 2),
    domain: optional(shortText),
    mtu: optional(anyPort),
    seconds: finite,
    renewSeconds: finite,
    rebindSeconds: finite,
  },
});
const pingSpec = object({
  ...{ to: line, mode: oneOf('icmp', 'udp', 'tcp', 'flags'), count, size: whole(0, 65_507), ttl: whole(0, 255), sport: anyPort },
  ...{ dport: anyPort, flags: whole(0, 255), intervalMs: count, timeoutMs: count },
});
const pingPosition = object({
  ...{ to: shortText, sequence: count, answered: count, id: anyPort, sport: anyPort, lastPort: anyPort, sentAgoMs: finite },
  ...{ stage: oneOf('Connect', 'SendData', 'Close'), connection: optional(shortText) },
});
const traceSpec = object({ to: line, mode: oneOf('icmp', 'udp', 'tcp'), hops: whole(1, 64), timeoutMs: count });
const tracePosition = object({ to: shortText, sent: count, isAnswered: flag, hasArrived: flag, port: anyPort, sentAgoMs: finite });

const job = variants('kind', {
  ping: { spec: pingSpec, position: pingPosition },
  trace: { spec: traceSpec, position: tracePosition },
  sleep: {},
  address: { setting: ipSetting, left: count },
  dhcp: { isVerbose: flag, left: optional(count) },
  auto: { asked: count },
  load: { name: optional(shortText) },
  save: { name: optional(shortText) },
  rlogin: { address, port, connection: optional(shortText) },
});
/** A command that is running. */
export type JobState = ValueOf<typeof job>;

const shell = object({
  ...{ line, cursor: count, history: boundedList(line, 50), escape: optional(shortText), typed: boundedText(65_536) },
  ...{ scripts: boundedList(boundedText(1024 * 1024), 8), hasPrompt: flag, job: optional(job) },
});
export type ShellState = ValueOf<typeof shell>;

/** Everything of a PC, for freezing: timers as remaining times, packets as hexadecimal digits. */
export const pcState = object({
  version: whole(1, 1),
  mac,
  settings: pcSettings,
  neighbours: object({
    entries: boundedList(object({ address, mac, remainingMs: finite }), 512),
    pending: boundedList(object({ address, requests: count, packets: boundedList(packet, 8) }), 64),
  }),
  pathMtus: boundedList(object({ dst: address, mtu: anyPort, remainingMs: finite }), 64),
  fragments: boundedList(
    object({
      key: shortText,
      remainingMs: finite,
      total: optional(count),
      parts: boundedList(object({ offset: count, payload: hex }), 128),
    }),
    16,
  ),
  connections: boundedList(connection, 128),
  dhcp: object({
    ...{ phase: oneOf('idle', 'selecting', 'requesting', 'renewing'), count, id: sequence32, offered: optional(address) },
    ...{ server: optional(address), answer: optional(dhcpAnswer) },
  }),
  tries: object({ router: count, dhcp6: count }),
  usedPorts: boundedList(anyPort, 16),
  shell,
  /** Milliseconds until each. */
  timers: boundedList(object({ name: shortText, ms: finite }), 256),
});
export type PcState = ValueOf<typeof pcState>;

const manyBytes = textThat((value) => value.length <= 1 << 20 && /^(?:[0-9a-f]{2})*$/.test(value), 'must be bytes in hexadecimal');
/** A PC of the process, for freezing: the PC and what waits for it. Bytes are hexadecimal digits. */
export const hostedState = object({
  pc: pcState,
  /** Last output of its console. */
  history: manyBytes,
  /** Input that was typed, and not taken yet. */
  input: manyBytes,
  /** Frames that the link has delivered and the PC has not seen. */
  arrived: list(manyBytes),
  /** Frames that the PC has sent and the link has not taken. */
  leaving: list(manyBytes),
});
export type HostedState = ValueOf<typeof hostedState>;

const timeoutMs = optional(whole(1, 60_000));
const size = optional(whole(0, 65_507));
/** A question to a PC that is answered with numbers instead of text. `to` is an IPv4 or IPv6 address, or a name of its DNS. */
export const pcProbe = variants('type', {
  /** `size`: bytes of data, as in `ping -l`. */
  ping: { to: line, count: whole(1, 1000), intervalMs: whole(1, 60_000), timeoutMs, size, ttl: optional(whole(1, 255)) },
  /** Connects, and closes at once. */
  tcp: { to: line, port, timeoutMs },
  /** Sends a datagram and waits for its echo, or for an ICMP error. */
  udp: { to: line, port, timeoutMs, size },
  trace: { to: line, hops: whole(1, 64), timeoutMs, protocol: optional(oneOf('icmp', 'udp', 'tcp')) },
  resolve: { name: text, timeoutMs },
  arp: {},
  /** The PC's own addresses. */
  addresses: {},
});
export type PcProbe = ValueOf<typeof pcProbe>;
