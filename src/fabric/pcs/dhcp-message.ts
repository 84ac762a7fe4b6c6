/** Messages of DHCP (RFC 2131, RFC 2132): written, read, and described as `ip dhcp -d` shows them. */
import { addressOf, bytesOf, macOf, maskText } from './addresses.ts';
import { be16, be32, u16, u32 } from './packet.ts';

export const dhcpTypes = { discover: 1, offer: 2, request: 3, decline: 4, ack: 5, nak: 6, release: 7 } as const;
const typeNames = ['', 'Discover', 'Offer', 'Request', 'Decline', 'Ack', 'Nak', 'Release'];
const codes = {
  mask: 1,
  router: 3,
  dns: 6,
  hostName: 12,
  domain: 15,
  mtu: 26,
  requested: 50,
  lease: 51,
  type: 53,
  server: 54,
  wanted: 55,
  renewal: 58,
  rebinding: 59,
  client: 61,
};
const headBytes = 236;
const cookie = [0x63, 0x82, 0x53, 0x63];
/** RFC 2132, 9.8: what a PC wants to know. */
const wanted = [
  codes.mask,
  codes.router,
  codes.dns,
  codes.domain,
  codes.mtu,
  codes.lease,
  codes.server,
  codes.renewal,
  codes.rebinding,
];

interface DhcpRequest {
  readonly type: number;
  readonly id: number;
  readonly mac: readonly number[];
  readonly name: string;
  /** The own address, when it has one already. */
  readonly client?: string | undefined;
  readonly server?: string | undefined;
  readonly requested?: string | undefined;
}

export interface DhcpAnswer {
  readonly type: number;
  readonly id: number;
  readonly address: string;
  readonly server: string | undefined;
  readonly prefix: number;
  readonly gateway: string | undefined;
  readonly dns: readonly string[];
  readonly domain: string | undefined;
  readonly mtu: number | undefined;
  readonly seconds: number;
  readonly renewSeconds: number;
  readonly rebindSeconds: number;
}

export function writeDhcp({ type, id, mac, name, client, server, requested }: DhcpRequest): Uint8Array {
  const hostName = Array.from(name.replace(/[^\x21-\x7e]/g, '').slice(0, 63), (letter) => letter.charCodeAt(0));
  const isQuestion = type === dhcpTypes.discover || type === dhcpTypes.request;
  const options = [
    ...[codes.type, 1, type],
    ...(server === undefined ? [] : [codes.server, 4, ...bytesOf(server)]),
    ...(requested === undefined ? [] : [codes.requested, 4, ...bytesOf(requested)]),
    ...[codes.client, 7, 1, ...mac],
    ...(hostName.length && isQuestion ? [codes.hostName, hostName.length, ...hostName] : []),
    ...(isQuestion ? [codes.wanted, wanted.length, ...wanted] : []),
    255,
  ];
  const message = new Uint8Array(Math.max(headBytes + 4 + options.length, 300));
  message.set([1, 1, 6, 0, ...be32(id), 0, 0, ...be16(0), ...bytesOf(client ?? '0.0.0.0')]);
  message.set(mac, 28);
  message.set([...cookie, ...options], headBytes);
  return message;
}

/** Undefined: it is no answer to a host with this MAC address. */
export function readDhcp(bytes: Uint8Array, mac: readonly number[]): DhcpAnswer | undefined {
  const isAnswer = bytes.length >= headBytes + 4 && bytes[0] === 2 && mac.every((byte, at) => bytes[28 + at] === byte);
  if (!isAnswer || !cookie.every((byte, at) => bytes[headBytes + at] === byte)) return undefined;
  const options = new Map<number, Uint8Array>(optionsOf(bytes).map(({ code, value }) => [code, value]));
  const numberAt = (code: number) => (options.get(code)?.length === 4 ? u32(options.get(code) as Uint8Array, 0) : undefined);
  const addresses = (code: number) => addressesOf(options.get(code) ?? new Uint8Array());
  const prefix = Array.from({ length: 33 }, (_, at) => at).find((at) => maskText(at) === addresses(codes.mask)[0]);
  const domain = text(options.get(codes.domain) ?? new Uint8Array());
  const mtu = options.get(codes.mtu)?.length === 2 ? u16(options.get(codes.mtu) as Uint8Array, 0) : undefined;
  const seconds = numberAt(codes.lease) ?? 86_400;
  const rebindSeconds = Math.min(numberAt(codes.rebinding) ?? seconds * 0.875, seconds);
  return {
    ...{ type: options.get(codes.type)?.[0] ?? 0, id: u32(bytes, 4), address: addressOf(bytes.subarray(16, 20)) },
    ...{ server: addresses(codes.server)[0], prefix: prefix ?? 24, gateway: addresses(codes.router)[0] },
    ...{ dns: addresses(codes.dns).slice(0, 2), domain: /^[\w.-]{1,255}$/.test(domain) ? domain : undefined, mtu, seconds },
    ...{ rebindSeconds, renewSeconds: Math.min(numberAt(codes.renewal) ?? seconds / 2, rebindSeconds) },
  };
}

/** Lines as `ip dhcp -d` prints them. */
export function describeDhcp(bytes: Uint8Array): string {
  const address = (at: number) => addressOf(bytes.subarray(at, at + 4));
  const lines = [
    `Opcode: ${bytes[0]} (${bytes[0] === 1 ? 'REQUEST' : 'REPLY'})`,
    `Client IP Address: ${address(12)}`,
    `Your IP Address: ${address(16)}`,
    `Server IP Address: ${address(20)}`,
    `Gateway IP Address: ${address(24)}`,
    `Client MAC Address: ${macOf(bytes.subarray(28, 34))}`,
    ...optionsOf(bytes).map(({ code, value }) => `Option ${code}: ${describeOption(code, value)}`),
  ];
  return `${lines.join('\n')}\n\n`;
}

function describeOption(code: number, value: Uint8Array): string {
  const addresses = addressesOf(value).join(' ');
  const seconds = value.length >= 4 ? u32(value, 0) : 0;
  const known: Readonly<Record<number, string>> = {
    [codes.type]: `Message Type = ${typeNames[value[0] ?? 0] ?? 'Unknown'}`,
    [codes.hostName]: `Host Name = ${text(value)}`,
    [codes.client]: `Client Identifier = Hardware Type=Ethernet MAC Address = ${macOf(value.subarray(1))}`,
    [codes.server]: `DHCP Server = ${addresses}`,
    [codes.lease]: `Lease Time = ${seconds}`,
    [codes.mask]: `Subnet Mask = ${addresses}`,
    [codes.router]: `Router = ${addresses}`,
    [codes.dns]: `DNS Server = ${addresses} `,
    [codes.domain]: `Domain = ${text(value)}`,
    [codes.mtu]: `MTU = ${u16(value, 0)}`,
    [codes.renewal]: `Renewal Time = ${seconds}`,
    [codes.rebinding]: `Rebinding Time = ${seconds}`,
    [codes.requested]: `Requested IP Address = ${addresses}`,
    [codes.wanted]: `Parameter Request List = ${value.join(' ')}`,
  };
  return known[code] ?? macOf(value.subarray(0, 32));
}

function optionsOf(bytes: Uint8Array): { code: number; value: Uint8Array }[] {
  const found: { code: number; value: Uint8Array }[] = [];
  for (let at = headBytes + 4; at + 1 < bytes.length && bytes[at] !== 255; ) {
    const code = bytes[at] ?? 0;
    const end = at + 2 + (bytes[at + 1] ?? 0);
    if (code !== 0 && end > bytes.length) break;
    if (code !== 0) found.push({ code, value: bytes.subarray(at + 2, end) });
    at = code === 0 ? at + 1 : end;
  }
  return found;
}

const addressesOf = (value: Uint8Array) =>
  Array.from({ length: Math.floor(value.length / 4) }, (_, at) => addressOf(value.subarray(at * 4, at * 4 + 4)));
/** Printable characters only: a server must not write control sequences to a console. */
const text = (value: Uint8Array) => String.fromCharCode(...value).replace(/[^\x20-\x7e]/g, '');
