/**
 * IPv6 neighbour discovery (RFC 4861), address autoconfiguration (RFC 4862) and stateless DHCPv6 (RFC 8415, 6.1). Duplicate addresses are
 * not looked for, as vpcs does not.
 */
import { addressOf, bytesOf, eui64, isIp6, isLinkLocal, isMulticast, macOf, solicitedNode } from './addresses.ts';
import type { PcHost } from './host.ts';
import { be16, protocols, type ReceivedPacket, u16, u32, withChecksum } from './packet.ts';
import { udpPacket } from './udp.ts';

const types = { routerSolicitation: 133, routerAdvertisement: 134, solicitation: 135, advertisement: 136 };
const options = { source: 1, target: 2, prefix: 3, mtu: 5, dns: 25 };
/** Every message of this protocol has come over no router. */
const hopLimit = 255;
/** RFC 4861, 10: solicitations of routers. */
const routerTries = { count: 3, pauseMs: 4000 };
const dhcp6 = { request: 11, reply: 7, clientId: 1, optionRequest: 6, elapsed: 8, dnsServers: 23, domains: 24 };
const dhcp6Tries = { count: 3, pauseMs: 1000 };
const mostDns = 4;

export class Discovery {
  readonly #host: PcHost;
  /** Requests sent so far: for a router, and for a DHCPv6 server. */
  tries = { router: 0, dhcp6: 0 };
  #dhcp6Id = 0;
  /** Notified of a router advertisement. */
  onRouter: (() => void) | undefined;

  constructor(host: PcHost) {
    this.#host = host;
  }

  solicit(address: string): void {
    this.#send(types.solicitation, this.#host.sourceFor(address) ?? '::', solicitedNode(address), [
      ...[0, 0, 0, 0, ...bytesOf(address)],
      ...this.#linkLayer(options.source),
    ]);
  }

  /** Asks for a router until one answers, three times. */
  findRouter(): void {
    this.tries.router = 0;
    this.onTimer('router');
  }

  solicitRouter(): void {
    this.#send(types.routerSolicitation, this.#host.linkLocal, 'ff02::2', [0, 0, 0, 0, ...this.#linkLayer(options.source)]);
  }

  onTimer(name: string): void {
    const isRouter = name === 'router';
    const { count, pauseMs } = isRouter ? routerTries : dhcp6Tries;
    const key = isRouter ? 'router' : 'dhcp6';
    if (this.tries[key] >= count) return;
    this.tries[key] += 1;
    this.#host.timers.set(`discovery ${name}`, pauseMs);
    if (isRouter) this.solicitRouter();
    else this.#requestInformation();
  }

  receive({ src, dst, ttl, payload }: ReceivedPacket): void {
    const type = payload[0];
    const head = { [types.routerSolicitation]: 8, [types.routerAdvertisement]: 16 }[type ?? 0] ?? 24;
    const found = ttl === hopLimit && payload[1] === 0 && payload.length >= head ? readOptions(payload.subarray(head)) : undefined;
    if (!found) return;
    const target = addressOf(payload.subarray(8, 24));
    if (type === types.solicitation) this.#onSolicitation(src, target, found);
    else if (type === types.advertisement) this.#onAdvertisement(target, found, isMulticast(dst));
    else if (type === types.routerAdvertisement && isLinkLocal(src)) this.#onRouterAdvertisement(src, payload, found);
  }

  receiveDhcp6(data: Uint8Array): void {
    if (data[0] !== dhcp6.reply || (u32(data, 0) & 0xffffff) !== this.#dhcp6Id || this.#dhcp6Id === 0) return;
    this.#dhcp6Id = 0;
    this.#host.timers.clear('discovery dhcp6');
    for (let at = 4; at + 4 <= data.length; at += 4 + u16(data, at + 2)) {
      const value = data.subarray(at + 4, at + 4 + u16(data, at + 2));
      if (value.length < u16(data, at + 2)) return;
      if (u16(data, at) === dhcp6.dnsServers) this.#learnDns(value);
      if (u16(data, at) === dhcp6.domains) this.#learnDomain(value);
    }
  }

  #onSolicitation(src: string, target: string, found: readonly NdOption[]): void {
    if (!this.#host.isOwn(target)) return;
    const mac = linkLayerOf(found, options.source);
    if (mac && isIp6(src) && src !== '::') this.#host.neighbours.learn(src, mac);
    const isSolicited = src !== '::';
    this.#send(types.advertisement, target, isSolicited ? src : 'ff02::1', [
      ...[isSolicited ? 0x60 : 0x20, 0, 0, 0, ...bytesOf(target)],
      ...this.#linkLayer(options.target),
    ]);
  }

  #onAdvertisement(target: string, found: readonly NdOption[], isUnsolicited: boolean): void {
    const mac = linkLayerOf(found, options.target);
    if (!mac || this.#host.isOwn(target)) return;
    if (this.#host.neighbours.isWanted(target) || (isUnsolicited && this.#host.neighbours.find(target)))
      this.#host.neighbours.learn(target, mac);
  }

  #onRouterAdvertisement(src: string, payload: Uint8Array, found: readonly NdOption[]): void {
    const host = this.#host;
    const mac = linkLayerOf(found, options.source);
    if (mac) host.neighbours.learn(src, mac);
    host.timers.clear('discovery router');
    const { ip6, router6, mtu6, mtu } = host.settings;
    const isRouter = u16(payload, 6) > 0;
    const router = isRouter ? { address: src, mac: mac ?? router6?.mac ?? '' } : router6?.address === src ? undefined : router6;
    const advertised = found.find(({ type, value }) => type === options.mtu && value.length === 6)?.value;
    const linkMtu = advertised && u32(advertised, 2) >= 1280 && u32(advertised, 2) <= mtu ? u32(advertised, 2) : mtu6;
    const prefix = found.find(({ type, value }) => type === options.prefix && isUsablePrefix(value))?.value;
    const address = prefix && eui64(addressOf(prefix.subarray(14, 30)), host.mac);
    const auto = address !== undefined && (!ip6 || ip6.auto) ? { address, prefix: 64, auto: true } : ip6;
    const next = { ip6: auto, router6: router, mtu6: linkMtu };
    if (JSON.stringify(next) !== JSON.stringify({ ip6, router6, mtu6 })) host.change(next);
    for (const { type, value } of found) if (type === options.dns && value.length >= 22) this.#learnDns(value.subarray(6));
    // Other configuration is available by DHCPv6.
    if (((payload[5] ?? 0) & 0xc0) !== 0 && !host.settings.dns6?.length && !host.timers.has('discovery dhcp6')) {
      this.tries.dhcp6 = 0;
      this.onTimer('dhcp6');
    }
    this.onRouter?.();
  }

  #learnDns(bytes: Uint8Array): void {
    const found = Array.from({ length: Math.floor(bytes.length / 16) }, (_, at) =>
      addressOf(bytes.subarray(at * 16, at * 16 + 16)),
    );
    const dns6 = found.slice(0, mostDns);
    if (dns6.join() !== this.#host.settings.dns6?.join()) this.#host.change({ dns6 });
  }

  /** The first name of a list in the form of RFC 1035, 3.1. */
  #learnDomain(bytes: Uint8Array): void {
    const labels: string[] = [];
    for (let at = 0; at < bytes.length && bytes[at] !== 0; at += 1 + (bytes[at] ?? 0))
      labels.push(String.fromCharCode(...bytes.subarray(at + 1, at + 1 + (bytes[at] ?? 0))));
    const domain = labels.join('.');
    if (/^[\w.-]{1,255}$/.test(domain) && !this.#host.settings.domain) this.#host.change({ domain });
  }

  #requestInformation(): void {
    const host = this.#host;
    this.#dhcp6Id ||= 1 + Math.floor(Math.random() * 0xfffffe);
    const id = this.#dhcp6Id;
    const clientId = [...be16(dhcp6.clientId), 0, 10, 0, 3, 0, 1, ...host.macBytes];
    const wanted = [...be16(dhcp6.optionRequest), 0, 4, ...be16(dhcp6.dnsServers), ...be16(dhcp6.domains)];
    const elapsed = [...be16(dhcp6.elapsed), 0, 2, ...be16((this.tries.dhcp6 - 1) * 100)];
    const data = Uint8Array.from([dhcp6.request, id >> 16, ...be16(id), ...clientId, ...elapsed, ...wanted]);
    host.route(udpPacket({ src: host.linkLocal, dst: 'ff02::1:2', ttl: 1 }, 546, 547, data));
  }

  #linkLayer(option: number): number[] {
    return [option, 1, ...this.#host.macBytes];
  }

  #send(type: number, src: string, dst: string, rest: readonly number[]): void {
    const payload = Uint8Array.from([type, 0, 0, 0, ...rest]);
    this.#host.route(withChecksum({ src, dst, protocol: protocols.icmp6, ttl: hopLimit, payload }, 2));
  }
}

interface NdOption {
  readonly type: number;
  /** Content of the option without type and length. */
  readonly value: Uint8Array;
}

/** Undefined: a length is wrong, and the message must be ignored (RFC 4861, 6.1 and 7.1). */
function readOptions(bytes: Uint8Array): NdOption[] | undefined {
  const found: NdOption[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = (bytes[at + 1] ?? 0) * 8;
    if (length === 0 || at + length > bytes.length) return undefined;
    found.push({ type: bytes[at] ?? 0, value: bytes.subarray(at + 2, at + length) });
    at += length;
  }
  return found;
}

function linkLayerOf(found: readonly NdOption[], option: number): string | undefined {
  const value = found.find(({ type, value }) => type === option && value.length === 6)?.value;
  return value && ((value[0] ?? 1) & 1) === 0 ? macOf(value) : undefined;
}

/** Checks that a prefix is for addresses: 64 bits, autonomous, valid for some time and not link-local (RFC 4862, 5.5.3). */
function isUsablePrefix(value: Uint8Array): boolean {
  const isValid = value.length === 30 && value[0] === 64 && ((value[1] ?? 0) & 0x40) !== 0;
  const [valid, preferred] = [u32(value, 2), u32(value, 6)];
  return isValid && valid > 0 && preferred <= valid && !isLinkLocal(addressOf(value.subarray(14, 30)));
}
