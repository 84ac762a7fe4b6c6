/**
 * Uses frames of real nodes: `../traffic.pcap` was captured on a trunk between two switches (vpcs with ARP, ping, UDP, TCP and IPv6) and
 * before a NAT (DHCP, DNS). The expected values are those that tcpdump prints.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PcapParser } from '../pcap.ts';
import { decode } from './decode.ts';
import type { Decoding } from './decoding.ts';
import { View } from './view.ts';

const parser = new PcapParser();
parser.push(await readFile(join(import.meta.dirname, '../traffic.pcap')));
const frames: Uint8Array[] = [];
for (let packet = parser.next(); packet; packet = parser.next()) frames.push(packet.bytes);
const all = frames.map((bytes) => decode(bytes));
const layersOf = ({ layers }: Decoding) => layers.map(({ name }) => name).join(' ');
const line = ({ source, destination, protocol, info }: Decoding) => `${source} > ${destination} ${protocol} ${info}`;
const lines = all.map(line);
const fieldOf = (decoding: Decoding | undefined, name: string) =>
  decoding?.layers.flatMap(({ fields }) => fields).findLast(([field]) => field === name)?.[1];

describe('a decoded frame', () => {
  it('has the headers down to its payload', () => {
    assert.equal(all.length, 45);
    assert.deepEqual([...new Set(all.map(layersOf))].sort(), [
      'Ethernet ARP',
      'Ethernet IPv4 ICMP',
      'Ethernet IPv4 UDP DHCP',
      'Ethernet IPv4 UDP DNS',
      'Ethernet IPv6 ICMPv6',
      'Ethernet VLAN ARP',
      'Ethernet VLAN IPv4 ICMP',
      'Ethernet VLAN IPv4 TCP',
      'Ethernet VLAN IPv4 UDP',
      'Ethernet VLAN IPv6 ICMPv6',
    ]);
    assert.deepEqual(
      all.filter(({ isCut }) => isCut),
      [],
    );
  });

  it('has a summary in one line', () => {
    for (const expected of [
      '00:50:79:66:68:00 > ff:ff:ff:ff:ff:ff ARP Who has 10.0.0.2? Tell 10.0.0.1',
      '00:50:79:66:68:02 > 00:50:79:66:68:00 ARP 10.0.0.2 is at 00:50:79:66:68:02',
      '10.0.0.1 > 10.0.0.2 ICMP Echo request, id 0xe330, seq 1',
      '10.0.0.2 > 10.0.0.1 UDP 7 → 41366, 64 bytes',
      '10.0.0.1 > 10.0.0.2 TCP 48337 → 7 [SYN] seq 2087486248, 0 bytes',
      '10.0.0.1 > 10.0.0.2 TCP 48337 → 7 [FIN, PSH, ACK] seq 2087486313, ack 1059893002, 0 bytes',
      '2001:db8::1 > ff02::1:ff00:2 ICMPv6 Neighbour solicitation for 2001:db8::2',
      '192.168.122.1 > 192.168.122.100 DHCP DHCP Offer 192.168.122.100, transaction 0xb5e4e44b',
      '192.168.122.100 > 10.255.255.53 DNS Question 0x008d A gateway.test',
      '10.255.255.53 > 192.168.122.100 DNS Answer 0x008d A gateway.test: NXDomain',
    ])
      assert.ok(lines.includes(expected), expected);
  });

  it('has the fields of its headers', () => {
    const offer = all.find(({ info }) => info.startsWith('DHCP Offer'));
    assert.equal(fieldOf(offer, 'Router'), '192.168.122.1');
    assert.equal(fieldOf(offer, 'DNS server'), '10.255.255.53');
    assert.equal(fieldOf(offer, 'Lease time'), '4294967295 s');
    const tagged = all.find(({ protocol }) => protocol === 'TCP');
    assert.equal(fieldOf(tagged, 'VLAN'), '20');
    assert.equal(fieldOf(tagged, 'Time to live'), '64');
  });

  it('is decoded as far as possible when it is truncated at any byte', () => {
    for (const bytes of frames)
      for (let length = 0; length < bytes.length; length += 1) {
        const { layers, isCut } = decode(bytes.subarray(0, length));
        if (length < 14) assert.ok(isCut && layers.length === 0);
        else assert.equal(layers[0]?.name, 'Ethernet');
      }
  });

  it('never throws, whatever its bytes are', () => {
    for (const bytes of frames)
      for (let at = 12; at < bytes.length; at += 1)
        for (const value of [0, 0x7f, 0xc0, 0xff]) {
          const damaged = bytes.slice();
          damaged[at] = value;
          decode(damaged);
        }
  });
});

const dnsAnswer = (message: readonly number[]): Uint8Array => {
  const udp = [0, 53, 0x30, 0x39, 0, message.length + 8, 0, 0, ...message];
  const ip = [0x45, 0, 0, udp.length + 20, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 53, 192, 0, 2, 1, ...udp];
  return Uint8Array.from([...Array<number>(12).fill(2), 8, 0, ...ip]);
};
const text = (label: string) => [label.length, ...Buffer.from(label)];

describe('a DNS response', () => {
  it('has compressed names and addresses', () => {
    const question = [...text('www'), ...text('example'), ...text('org'), 0, 0, 1, 0, 1];
    const alias = [0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 6, ...text('web'), 0xc0, 16];
    const address = [0xc0, 45, 0, 1, 0, 1, 0, 0, 1, 0, 0, 4, 192, 0, 2, 80];
    const six = [0xc0, 45, 0, 28, 0, 1, 0, 0, 1, 0, 0, 16, 0x20, 1, 0x0d, 0xb8, ...Array<number>(11).fill(0), 80];
    const decoded = decode(dnsAnswer([0, 9, 0x81, 0x80, 0, 1, 0, 3, 0, 0, 0, 0, ...question, ...alias, ...address, ...six]));
    assert.equal(decoded.info, 'Answer 0x0009 A www.example.org CNAME web.example.org A 192.0.2.80 AAAA 2001:db8::50');
    assert.equal(fieldOf(decoded, 'Answer'), 'web.example.org AAAA 2001:db8::50, 256 s');
  });

  it('is not decoded further when a name points to itself', () => {
    const decoded = decode(dnsAnswer([0, 9, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1]));
    assert.ok(decoded.isCut);
    assert.equal(decoded.protocol, 'DNS');
  });
});

describe('an IPv6 address', () => {
  const shown = (...groups: number[]) => new View(Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]))).ipv6(0);
  it('is written as RFC 5952 says', () => {
    assert.equal(shown(0, 0, 0, 0, 0, 0, 0, 0), '::');
    assert.equal(shown(0, 0, 0, 0, 0, 0, 0, 1), '::1');
    assert.equal(shown(0xfe80, 0, 0, 0, 0, 0, 0, 0), 'fe80::');
    assert.equal(shown(0x2001, 0xdb8, 0, 0, 1, 0, 0, 1), '2001:db8::1:0:0:1');
    assert.equal(shown(0x2001, 0xdb8, 0, 1, 1, 1, 1, 1), '2001:db8:0:1:1:1:1:1');
    assert.equal(shown(0x10, 0, 0, 0x100, 0, 0, 0, 1), '10:0:0:100::1');
  });
});
