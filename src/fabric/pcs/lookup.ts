/** Looks a host's name up at the DNS servers of a PC (RFC 1035): an IPv4 address, or else an IPv6 address. */
import { addressOf, isIp6 } from './addresses.ts';
import type { PcHost } from './host.ts';
import { be16, type Packet, protocols, u16 } from './packet.ts';
import { randomPort, udpPacket } from './udp.ts';

const port = 53;
const records = { ip4: 1, ip6: 28 };
const pauseMs = 1000;
/** Attempts at each server. */
const tries = 2;
const mostRecords = 64;

export class Lookup {
  readonly #host: PcHost;
  /** The whole name, with the local domain when the given one has no dot. */
  readonly name: string;
  readonly #timer: string;
  readonly #onDone: (addresses: readonly string[]) => void;
  #record = records.ip4;
  #asked = 0;
  #id = 0;
  #port = 0;

  /** `timer`: name of a timer of the task that waits, which passes its end on to `onTimer`. */
  constructor(host: PcHost, name: string, timer: string, onDone: (addresses: readonly string[]) => void) {
    const { domain } = host.settings;
    this.#host = host;
    this.name = name.includes('.') || domain === undefined ? name : `${name}.${domain}`;
    this.#timer = timer;
    this.#onDone = onDone;
  }

  /** Sends the next question, or ends without an address. */
  onTimer(): void {
    const { dns, dns6 = [] } = this.#host.settings;
    const servers = [...dns, ...dns6];
    const server = servers[this.#asked % servers.length];
    const labels = this.name.replace(/\.$/, '').split('.');
    const isName = labels.every((label) => /^[\x21-\x7e]{1,63}$/.test(label)) && this.name.length <= 253;
    if (!isName || server === undefined || this.#asked >= servers.length * tries) {
      this.#onDone([]);
      return;
    }
    this.#asked += 1;
    this.#id = Math.floor(Math.random() * 0x10000);
    this.#port = randomPort();
    this.#host.usedPorts.add(this.#port);
    this.#host.timers.set(this.#timer, pauseMs);
    const name = labels.flatMap((label) => [label.length, ...Buffer.from(label, 'latin1')]);
    const question = Uint8Array.from([...be16(this.#id), 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, ...be16(this.#record), 0, 1]);
    const src = this.#host.sourceFor(server);
    if (src !== undefined) this.#host.route(udpPacket({ src, dst: server, ttl: 64 }, this.#port, port, question));
  }

  onPacket({ protocol, payload }: Packet): boolean {
    if (protocol !== protocols.udp || u16(payload, 0) !== port || u16(payload, 2) !== this.#port) return false;
    const message = payload.subarray(8);
    if (message.length < 12 || u16(message, 0) !== this.#id || ((message[2] ?? 0) & 0x80) === 0) return true;
    const addresses = readAnswers(message, this.#record);
    this.#host.timers.clear(this.#timer);
    if (addresses.length > 0 || this.#record === records.ip6) this.#onDone(addresses);
    else {
      this.#record = records.ip6;
      this.#asked = 0;
      this.onTimer();
    }
    return true;
  }
}

/** Addresses of the records of that type, whatever name they belong to: a server adds those of aliases. */
function readAnswers(message: Uint8Array, record: number): string[] {
  const found: string[] = [];
  let at = 12;
  for (let count = u16(message, 4); count > 0; count--) at = afterName(message, at) + 4;
  for (let count = Math.min(u16(message, 6), mostRecords); count > 0 && at < message.length; count--) {
    const fields = afterName(message, at);
    const length = u16(message, fields + 8);
    const value = message.subarray(fields + 10, fields + 10 + length);
    const isAddress = u16(message, fields) === record && value.length === length && length === (record === records.ip6 ? 16 : 4);
    if (isAddress) found.push(addressOf(value));
    at = fields + 10 + length;
  }
  return found.filter((address) => isIp6(address) === (record === records.ip6));
}

function afterName(message: Uint8Array, from: number): number {
  for (let at = from; at < message.length; ) {
    const length = message[at] ?? 0;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    at += length + 1;
  }
  return message.length;
}
