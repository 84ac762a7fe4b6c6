/** What a PC keeps and is asked, as shapes of JSON: its settings, its whole state, and requests to its probes. */
import { finite, flag, list, object, oneOf, optional, text, textThat, type ValueOf, variants, whole } from '../../lib/shape.ts';

/** Longer texts of a state are refused, so that a file of a lab cannot fill memory. */
const boundedText = (limit: number) => textThat((value) => value.length <= limit, `must have at most ${limit} characters`);
const shortText = boundedText(255);
const prefix = whole(0, 128);

const lease = object({
  server: shortText,
  /** Seconds. */
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
  mtu: whole(),
  /** IPv4, without which the PC has none. */
  ip4: optional(object({ address: shortText, prefix, gateway: optional(shortText) })),
  /** A global IPv6 address. `router` and its MAC address come from a router advertisement. */
  ip6: optional(object({ address: shortText, prefix, gateway: optional(shortText), auto: optional(flag) })),
  mtu6: optional(whole()),
  dns: list(shortText),
  domain: optional(shortText),
  lease: optional(lease),
  /** Flags of `set dump`. */
  dump: optional(list(shortText)),
  /** Whether a script's lines are echoed. */
  echo: optional(flag),
});
export type PcSettings = ValueOf<typeof pcSettings>;

/** Everything of a PC, for freezing: timers as remaining times, packets as hexadecimal digits. */
export const pcState = object({
  version: whole(1, 1),
  mac: shortText,
  settings: pcSettings,
});
export type PcState = ValueOf<typeof pcState>;

const port = whole(1, 65_535);
const timeoutMs = optional(whole(1, 60_000));
/** A question to a PC that is answered with numbers instead of text. `to` is an IPv4 or IPv6 address, or a name of its DNS. */
export const pcProbe = variants('type', {
  /** `size`: bytes of data, as in `ping -l`. */
  ping: {
    to: text,
    count: whole(1, 1000),
    intervalMs: whole(1, 60_000),
    timeoutMs,
    size: optional(whole(0, 65_507)),
    ttl: optional(whole(1, 255)),
  },
  /** Connects, and closes at once. */
  tcp: { to: text, port, timeoutMs },
  /** Sends a datagram and waits for its echo, or for an ICMP error. */
  udp: { to: text, port, timeoutMs, size: optional(whole(0, 65_507)) },
  trace: { to: text, hops: whole(1, 64), timeoutMs, protocol: optional(oneOf('icmp', 'udp', 'tcp')) },
  resolve: { name: text, timeoutMs },
  arp: {},
  addresses: {},
});
export type PcProbe = ValueOf<typeof pcProbe>;
