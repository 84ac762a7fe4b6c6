/** ARP (RFC 826), with the check for duplicate addresses that vpcs makes: gratuitous requests. */
import { addressOf, bytesOf, equalBytes, macOf } from './addresses.ts';
import type { PcHost } from './host.ts';
import { be16, etherTypes, u16 } from './packet.ts';

const broadcast = new Uint8Array(6).fill(0xff);
const unknown = new Uint8Array(6);
const operations = { request: 1, reply: 2 };
/** Shortest payload of an Ethernet frame. */
const frameBytes = 46;

export class Arp {
  readonly #host: PcHost;
  /** The address that is being checked. */
  #watched: string | undefined;
  #onUser: ((mac: string) => void) | undefined;

  constructor(host: PcHost) {
    this.#host = host;
  }

  request(address: string, from = this.#host.settings.ip4?.address ?? '0.0.0.0'): void {
    this.#send(broadcast, operations.request, from, { mac: unknown, address });
  }

  /** Asks whether another host uses `address`. */
  probe(address: string): void {
    this.request(address, address);
  }

  /** Calls `onUser` when another host uses the address. */
  watch(address: string | undefined, onUser?: (mac: string) => void): void {
    this.#watched = address;
    this.#onUser = onUser;
  }

  receive(bytes: Uint8Array): void {
    // Ethernet and IPv4, with addresses of 6 and 4 bytes.
    if (bytes.length < 28 || u16(bytes, 0) !== 1 || u16(bytes, 2) !== etherTypes.ip4 || u16(bytes, 4) !== 0x0604) return;
    const operation = u16(bytes, 6);
    const [mac, sender] = [bytes.subarray(8, 14), addressOf(bytes.subarray(14, 18))];
    const target = addressOf(bytes.subarray(24, 28));
    const isUnicast = ((mac[0] ?? 0) & 1) === 0;
    if (!isUnicast || equalBytes(mac, this.#host.macBytes)) return;
    if (this.#watched === sender) this.#onUser?.(macOf(mac));
    const own = this.#host.settings.ip4?.address;
    const isForMe = own !== undefined && target === own;
    if (sender !== '0.0.0.0' && sender !== own && (isForMe || this.#host.neighbours.isWanted(sender)))
      this.#host.neighbours.learn(sender, macOf(mac));
    if (operation === operations.request && isForMe && own !== undefined)
      this.#send(new Uint8Array(mac), operations.reply, own, { mac: new Uint8Array(mac), address: sender });
  }

  #send(to: Uint8Array, operation: number, from: string, target: { mac: Uint8Array; address: string }): void {
    const payload = new Uint8Array(frameBytes);
    payload.set([0, 1, ...be16(etherTypes.ip4), 6, 4, ...be16(operation), ...this.#host.macBytes, ...bytesOf(from)]);
    payload.set([...target.mac, ...bytesOf(target.address)], 18);
    this.#host.sendFrame(to, etherTypes.arp, payload);
  }
}
